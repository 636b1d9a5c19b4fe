" Comments, indentation and the keymap for glyphs.
setlocal commentstring=⍝\ %s comments=:⍝ expandtab shiftwidth=2 softtabstop=2
if get(g:, 'rho_keymap', 0)
  setlocal keymap=rho
endif

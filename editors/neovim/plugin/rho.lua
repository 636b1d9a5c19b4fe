-- Files that end in .rho are Rho; each gets a server unless vim.g.rho_no_lsp is set.
local group = vim.api.nvim_create_augroup("rho", {})

vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  group = group,
  pattern = "*.rho",
  callback = function()
    vim.bo.filetype = "rho"
  end,
})

vim.api.nvim_create_autocmd("FileType", {
  group = group,
  pattern = "rho",
  callback = function(event)
    if not vim.g.rho_no_lsp then
      require("rho").start(event.buf)
    end
  end,
})

-- Run by test_neovim.py inside `nvim --headless`: edits a file as a person would and writes what happened as JSON.
local out, buffer = {}, vim.api.nvim_get_current_buf()

local function wait_for(what, condition)
  if not vim.wait(60000, condition, 20) then
    out.gave_up = what
    error("gave up waiting for " .. what)
  end
end

local function set(lines)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
end

local function ask(method, row, column, more)
  vim.api.nvim_win_set_cursor(0, { row, column })
  local client = vim.lsp.get_active_clients()[1]
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  for key, value in pairs(more or {}) do
    params[key] = value
  end
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 60000)
  for _, answer in pairs(answers or {}) do
    return answer.result
  end
end

local function codes()
  return vim.tbl_map(function(one) return one.code end, vim.diagnostic.get(buffer))
end

local function run()
  wait_for("the server", function()
    local client = vim.lsp.get_active_clients()[1]
    return client and client.initialized and vim.lsp.buf_is_attached(buffer, client.id)
  end)
  out.filetype = vim.bo.filetype
  out.syntax = vim.fn.synIDattr(vim.fn.synID(1, 1, 1), "name")

  wait_for("the diagnostic", function() return #vim.diagnostic.get(buffer) > 0 end)
  out.first = codes()
  local found = vim.diagnostic.get(buffer)[1]
  out.place = { found.lnum, found.col }

  -- a code action applied: the misspelt name
  vim.api.nvim_win_set_cursor(0, { found.lnum + 1, found.col })
  local client = vim.lsp.get_active_clients()[1]
  local params = vim.lsp.util.make_range_params(0, client.offset_encoding)
  params.context = { diagnostics = {} }
  local answers = vim.lsp.buf_request_sync(buffer, "textDocument/codeAction", params, 60000)
  for _, answer in pairs(answers) do
    for _, action in ipairs(answer.result) do
      if action.kind == "quickfix" then
        out.action = action.title
        vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
        break
      end
    end
  end
  wait_for("the repair", function() return #vim.diagnostic.get(buffer) == 0 end)
  out.repaired = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)

  out.hover = ask("textDocument/hover", 2, 0).contents.value
  out.definition = ask("textDocument/definition", 3, 2).range.start.line
  vim.api.nvim_buf_set_lines(buffer, -1, -1, false, { "tot" })
  local labels = {}
  for _, item in ipairs(ask("textDocument/completion", 4, 3).items) do
    labels[item.label] = true
  end
  out.completes = labels["total"] or false
  local hints = vim.lsp.buf_request_sync(buffer, "textDocument/inlayHint", {
    textDocument = vim.lsp.util.make_text_document_params(),
    range = { start = { line = 0, character = 0 }, ["end"] = { line = 3, character = 0 } },
  }, 60000)
  for _, answer in pairs(hints) do
    out.hints = vim.tbl_map(function(one) return one.label end, answer.result)
  end

  -- formatting through Neovim's own command
  set({ "x←`iota   3", "y  ←  x+1" })
  if vim.lsp.buf.format then
    vim.lsp.buf.format({ async = false, timeout_ms = 60000 })
  else
    vim.lsp.buf.formatting_sync({}, 60000)
  end
  out.formatted = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)

  -- renaming, and columns behind a character of two units
  set({ "'𝔸' ⋄ abc ← 1", "abc + abc" })
  vim.api.nvim_win_set_cursor(0, { 1, #"'𝔸' ⋄ " })
  vim.lsp.buf.rename("xyz")
  wait_for("the new name", function() return vim.api.nvim_buf_get_lines(buffer, 1, 2, false)[1] == "xyz + xyz" end)
  out.renamed = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)

  -- a glyph by its name and a blank, through the server
  vim.o.virtualedit = "onemore"
  set({ "'𝔸' , `iota " })
  vim.api.nvim_win_set_cursor(0, { 1, #vim.api.nvim_get_current_line() })
  vim.api.nvim_exec_autocmds("TextChangedI", { buffer = buffer })
  wait_for("the glyph", function() return vim.api.nvim_get_current_line() == "'𝔸' , ⍳" end)

  -- the keymap
  set({ "" })
  vim.bo.keymap = "rho"
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("ix`gets`iota 3<Esc>", true, false, true), "xt", false)
  out.typed = vim.api.nvim_get_current_line()
end

local fine, problem = pcall(run)
if not fine then
  out.problem = tostring(problem)
end
local file = io.open(vim.env.RHO_REPORT, "w")
file:write(vim.fn.json_encode(out))
file:close()
vim.cmd("qa!")

-- Starts `rho lsp` for Rho buffers; Neovim 0.7 and later, no plugin needed.
--
--   require("rho").setup({ cmd = { "rho", "lsp" }, strict = false, on_attach = function(client, buffer) … end })
local M = { options = { cmd = { "rho", "lsp" }, strict = false, hints = true } }

local clients = {}

local function root_of(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  return name ~= "" and vim.fn.fnamemodify(name, ":p:h") or vim.fn.getcwd()
end

local function request(client, ...)
  if vim.fn.has("nvim-0.11") == 1 then
    return client:request(...)
  end
  return client.request(...)
end

function M.setup(options)
  M.options = vim.tbl_extend("force", M.options, options or {})
end

-- Format on type is not Neovim's own before 0.12: after a blank or a line end ask the server ourselves.
local function typed(client, buffer)
  vim.api.nvim_create_autocmd("TextChangedI", {
    buffer = buffer,
    callback = function()
      local row, column = unpack(vim.api.nvim_win_get_cursor(0))
      local line = vim.api.nvim_get_current_line()
      local last = line:sub(column, column)
      if not line:sub(1, column):find("`") or not last:match("[%s%p%d]") then
        return
      end
      local position = vim.lsp.util.make_position_params(0, client.offset_encoding)
      local tick = vim.api.nvim_buf_get_changedtick(buffer)
      position.ch = last
      position.options = { tabSize = 2, insertSpaces = true }
      request(client, "textDocument/onTypeFormatting", position, function(problem, edits)
        if problem or not edits or #edits == 0 or vim.api.nvim_buf_get_changedtick(buffer) ~= tick then
          return
        end
        local before = #vim.api.nvim_get_current_line()
        vim.lsp.util.apply_text_edits(edits, buffer, client.offset_encoding)
        local after = #vim.api.nvim_get_current_line()
        vim.api.nvim_win_set_cursor(0, { row, column + after - before })
      end, buffer)
    end,
  })
end

local function attached(client, buffer)
  vim.bo[buffer].omnifunc = "v:lua.vim.lsp.omnifunc"
  typed(client, buffer)
  if M.options.hints and vim.lsp.inlay_hint then
    pcall(vim.lsp.inlay_hint.enable, true, { bufnr = buffer })
  end
  if M.options.on_attach then
    M.options.on_attach(client, buffer)
  end
end

function M.start(buffer)
  local config = {
    name = "rho",
    cmd = M.options.cmd,
    root_dir = root_of(buffer),
    init_options = { strict = M.options.strict },
    on_attach = attached,
  }
  if vim.lsp.start then
    vim.lsp.start(config, { bufnr = buffer })
    return
  end
  local id = clients[config.root_dir]
  if not id or not vim.lsp.get_client_by_id(id) then
    id = vim.lsp.start_client(config)
    clients[config.root_dir] = id
  end
  if id then
    vim.lsp.buf_attach_client(buffer, id)
  end
end

return M

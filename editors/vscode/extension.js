// Starts `rho lsp` for Rho documents.  Everything that knows the language is in the server and in the generated files.
"use strict";

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

function start() {
  const settings = vscode.workspace.getConfiguration("rho");
  const [command, ...args] = settings.get("command", ["rho", "lsp"]);
  client = new LanguageClient(
    "rho",
    "Rho",
    { command, args, transport: TransportKind.stdio },
    {
      documentSelector: [{ language: "rho" }],
      initializationOptions: { strict: settings.get("strict", false), devices: settings.get("devices", "") },
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.rho") },
    },
  );
  return client.start().catch((error) => {
    vscode.window.showErrorMessage(`Rho: ${command} does not start (${error.message}); pip install 'rho-lang[lsp]'`);
  });
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("rho.restart", async () => {
      await deactivate();
      await start();
    }),
  );
  await start();
}

async function deactivate() {
  if (client !== undefined && client.isRunning()) {
    await client.stop();
  }
  client = undefined;
}

module.exports = { activate, deactivate };

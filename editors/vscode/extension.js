// Starts `rho lsp` for Rho documents, and runs `rho` on the file in the editor.  Everything that knows the language is in the
// server and in the generated files.
"use strict";

const path = require("path");
const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");
const glyphs = require("./glyphs.json");

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
      initializationOptions: { strict: settings.get("strict", false), devices: settings.get("devices", ""), commands: true },
      markdown: { isTrusted: { enabledCommands: ["rho.costs"] } },
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.rho") },
    },
  );
  return client.start().catch((error) => {
    vscode.window.showErrorMessage(`Rho: ${command} does not start (${error.message}); pip install 'rho-lang[lsp]'`);
  });
}

async function restart() {
  await deactivate();
  await start();
}

// The words before `lsp` in the setting `rho.command`: how `rho` is started.
function program() {
  const words = vscode.workspace.getConfiguration("rho").get("command", ["rho", "lsp"]);
  return words[words.length - 1] === "lsp" ? words.slice(0, -1) : words;
}

function runRho(title, words) {
  const [command, ...args] = [...program(), ...words];
  const options = { cwd: path.dirname(words[1]) };
  const execution = new vscode.ShellExecution(command, args, options);
  const task = new vscode.Task({ type: "rho" }, vscode.TaskScope.Workspace, title, "rho", execution);
  task.presentationOptions = { clear: true, showReuseMessage: false };
  return vscode.tasks.executeTask(task);
}

// The path of the Rho file in the editor, saved; undefined, with a message, if there is none.
async function savedFile() {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || editor.document.languageId !== "rho") {
    vscode.window.showInformationMessage("Rho: open a .rho file first.");
    return undefined;
  }
  if ((editor.document.isUntitled || editor.document.isDirty) && !(await editor.document.save())) {
    return undefined;
  }
  return vscode.window.activeTextEditor.document.uri.fsPath;
}

async function runVerb(verb) {
  const file = await savedFile();
  return file === undefined ? undefined : runRho(verb, [verb, file]);
}

async function plot() {
  const file = await savedFile();
  if (file === undefined) {
    return undefined;
  }
  const uri = vscode.window.activeTextEditor.document.uri;
  const symbols = (await vscode.commands.executeCommand("vscode.executeDocumentSymbolProvider", uri)) || [];
  const named = symbols.filter((symbol) => symbol.kind !== vscode.SymbolKind.Function && symbol.kind !== vscode.SymbolKind.Module);
  const names = [...new Set(named.map((symbol) => symbol.name))].reverse();
  const name = await vscode.window.showQuickPick(names, { placeHolder: "the value to draw: a vector or a matrix" });
  return name === undefined ? undefined : runRho("plot", ["run", file, "--plot", name]);
}

async function insertGlyph() {
  const editor = vscode.window.activeTextEditor;
  const items = glyphs.map(({ glyph, names, title }) => ({ label: glyph, description: names.join(" "), detail: title }));
  const options = { matchOnDescription: true, matchOnDetail: true, placeHolder: "a glyph, by its name or meaning" };
  const chosen = await vscode.window.showQuickPick(items, options);
  if (chosen !== undefined && editor !== undefined) {
    await editor.edit((edit) => editor.selections.forEach((selection) => edit.replace(selection, chosen.label)));
  }
}

async function activate(context) {
  const commands = {
    "rho.restart": restart,
    "rho.run": () => runVerb("run"),
    "rho.check": () => runVerb("check"),
    "rho.plan": () => runVerb("plan"),
    "rho.plot": plot,
    "rho.costs": (file, name) => runRho("costs", ["type", file, name, "--cost"]),
    "rho.insertGlyph": insertGlyph,
  };
  for (const [name, action] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, action));
  }
  await start();
}

async function deactivate() {
  if (client !== undefined && client.isRunning()) {
    await client.stop();
  }
  client = undefined;
}

module.exports = { activate, deactivate };

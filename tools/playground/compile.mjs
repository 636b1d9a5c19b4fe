// node compile.mjs FOLDER: replaces the modules in FOLDER/rho.zip that the playground imports by compiled ones, of its Python.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { ask, loadRho } from "./rho.mjs";

const folder = process.argv[2], archive = `${folder}/rho.zip`;
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide/pyodide.mjs`).href);
const python = await loadRho(loadPyodide, `${folder}/pyodide/`, new Uint8Array(readFileSync(archive)));
ask(python, "check type values plan", "use stats\nx ← 3 1 4\nstats.mean x\noutput top ← ⌈/x\n");
ask(python, "check", "1 2 3+4 5\n");
python.FS.writeFile("/tmp/rho.zip", new Uint8Array(readFileSync(archive)));
python.runPython(`
import py_compile, zipfile
compiled = {}
for module in list(sys.modules.values()):
    file = getattr(module, "__file__", None) or ""
    if file.startswith("/rho/") and file.endswith(".py"):
        compiled[file.removeprefix("/rho/")] = py_compile.compile(file, file + "c", dfile=file, doraise=True)
with zipfile.ZipFile("/tmp/rho.zip") as source, zipfile.ZipFile("/tmp/compiled.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
    for name in source.namelist():
        if name in compiled:
            target.write(compiled[name], name + "c")
        else:
            target.writestr(name, source.read(name))
`);
writeFileSync(archive, python.FS.readFile("/tmp/compiled.zip"));

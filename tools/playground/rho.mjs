// Loads Pyodide and Rho from folders of the site; the same in a browser's worker and under node.
export async function loadRho(loadPyodide, indexURL, archive) {
  const python = await loadPyodide({ indexURL });
  python.unpackArchive(archive, "zip", { extractDir: "/rho" });
  python.runPython("import sys, os; sys.path.insert(0, '/rho'); os.chdir('/tmp')\nfrom answers import answer");
  return python;
}

// What Rho prints of a program: an object by command (answers.py).
export function ask(python, commands, text) {
  const answer = python.globals.get("answer");
  try {
    return JSON.parse(answer(commands, text));
  } finally {
    answer.destroy();
  }
}

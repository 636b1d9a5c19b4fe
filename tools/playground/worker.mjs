// The worker of the playground: {id, commands, text} in, {id, answers} out.  The page ends it to interrupt a program.
import { loadPyodide } from "./pyodide/pyodide.mjs";
import { ask, loadRho } from "./rho.mjs";

const here = new URL("./", import.meta.url).href;
const ready = (async () => {
  const archive = await (await fetch(`${here}rho.zip`)).arrayBuffer();
  const python = await loadRho(loadPyodide, `${here}pyodide/`, archive);
  postMessage({ ready: true });
  return python;
})();

onmessage = async ({ data }) => {
  try {
    postMessage({ id: data.id, answers: ask(await ready, data.commands, data.text) });
  } catch (error) {
    postMessage({ id: data.id, failure: String(error) });
  }
};

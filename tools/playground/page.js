// The page of the playground: text in, problems, types, values and a plan out; glyphs by a bar and by the backtick; links.
(() => {
  const here = new URL("./", document.currentScript.src).href;
  const encode = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
  const decode = (code) => new TextDecoder().decode(Uint8Array.from(atob(code), (c) => c.charCodeAt(0)));

  // Blocks of other pages open here; of a session, what is typed.
  const typed = (code) => code.startsWith("      ")
    ? code.split("\n").filter((line) => line.startsWith("      ")).map((line) => line.slice(6)).join("\n") + "\n" : code;
  for (const block of document.querySelectorAll("div.try.highlight")) {
    const link = document.createElement("a");
    link.className = "rho-open";
    link.textContent = "Try";
    link.title = "Open in the playground";
    link.href = `${here}../try.html#${encode(typed(block.querySelector("code").textContent))}`;
    block.append(link);
  }

  const text = document.getElementById("rho-text");
  if (!text) return;
  const shown = Object.fromEntries(["status", "check", "values", "type", "plan"].map((name) => [name, document.getElementById(`rho-${name}`)]));
  const stop = document.getElementById("rho-stop");
  const glyphs = JSON.parse(document.getElementById("rho-glyphs").textContent);
  const started = performance.now();
  let worker, running = false, wanted = null, id = 0, begun = 0, first = true;

  const say = (message) => { shown.status.textContent = message; };
  const show = (name, content, failed) => {
    shown[name].textContent = content;
    shown[name].parentElement.classList.toggle("failed", Boolean(failed));
  };

  function start() {
    worker?.terminate();
    say("Loading Rho …");
    running = false;
    worker = new Worker(`${here}worker.mjs`, { type: "module" });
    worker.onmessage = ({ data }) => {
      if (data.ready) return;
      running = false;
      stop.disabled = true;
      const { check, type, values, plan } = data.answers ?? {};
      show("check", data.failure ?? (check?.exit === 0 ? check.text.trim() : check.text), data.failure || check.exit);
      if (type) show("type", type.text, type.exit);
      if (values) show("values", values.text, values.exit);
      if (plan) show("plan", plan.text, plan.exit);
      if (check?.exit) show("values", "");
      const took = Math.round(performance.now() - begun);
      say(first ? `First result after ${((performance.now() - started) / 1000).toFixed(1)} s` : `${took} ms`);
      document.documentElement.dataset.rhoResult = `${data.id} ${first ? Math.round(performance.now() - started) : took}`;
      first = false;
      if (data.failure) start();  // after an error of Pyodide itself, as when memory ran out, it answers no more
      next();
    };
    worker.onerror = (event) => say(`The playground does not run here: ${event.message ?? "no module workers"}`);
  }

  function next() {
    if (running || wanted === null) return;
    running = true;
    stop.disabled = false;
    begun = performance.now();
    const commands = `check type values${shown.plan.parentElement.open ? " plan" : ""}`;
    worker.postMessage({ id: ++id, commands, text: wanted });
    wanted = null;
  }

  let timer;
  function changed() {
    clearTimeout(timer);
    timer = setTimeout(() => { wanted = text.value; next(); }, 120);
  }

  function insert(glyph, replaced = 0) {
    const at = text.selectionStart;
    text.setRangeText(glyph, at - replaced, text.selectionEnd, "end");
    text.focus();
    changed();
  }

  const keys = new Map(glyphs.filter(({ key }) => key).map(({ key, glyph }) => [key, glyph]));
  const names = new Map(glyphs.flatMap(({ names, glyph }) => names.map((name) => [name, glyph])));
  let prefixed = -1;
  text.addEventListener("keydown", (event) => {
    if (event.key.length !== 1 || event.ctrlKey || event.metaKey) return;
    const at = text.selectionStart, before = text.value.slice(0, at);
    const name = /`([a-z]{2,})$/.exec(before);
    if (event.key === " " && name && names.has(name[1])) {
      event.preventDefault();
      insert(names.get(name[1]), name[0].length);
    } else if (event.key !== "`" && before.endsWith("`") && !/[a-z]/.test(event.key) && keys.has(event.key)) {
      event.preventDefault();
      insert(keys.get(event.key), 1);
    } else if (/`[a-z]$/.test(before) && !/[a-z]/.test(event.key) && keys.has(before.at(-1))) {
      insert(keys.get(before.at(-1)), 2);
      if (event.key === " ") event.preventDefault();
    }
  });
  text.addEventListener("input", changed);
  shown.plan.parentElement.addEventListener("toggle", changed);
  stop.addEventListener("click", () => { start(); say("Stopped; loading Rho again …"); });
  document.getElementById("rho-share").addEventListener("click", async () => {
    location.hash = encode(text.value);
    try { await navigator.clipboard.writeText(location.href); say("The link is copied"); } catch { say("The link is in the address bar"); }
  });

  const bar = document.getElementById("rho-bar");
  for (const { glyph, names, key, title } of glyphs) {
    if ([...glyph].length > 2 || /^⎕./.test(glyph) || !/[^\x00-\x7f]/.test(glyph)) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = glyph;
    button.title = `${title}: \`${key ?? names[0]}${key ? `, \`${names[0]}` : ""}`;
    button.setAttribute("aria-label", title);
    button.addEventListener("click", () => insert(glyph));
    bar.append(button);
  }

  function opened() {
    const code = location.hash.slice(1);
    try { if (code) text.value = decode(code); } catch { say("This link holds no program"); }
    changed();
  }
  addEventListener("hashchange", opened);
  start();
  opened();
})();

"use strict";
// Everything that comes from a request is untrusted and goes into the page as text, never as HTML. The key is only in
// the header of requests to this same address, and in this tab's storage: not in the page and not in an address.

const byId = (id) => document.getElementById(id);
const STORED_KEY = "rialto-sandbox-key";
const MOST_LINES = 500;
const PAUSE_MS = 250; // between two looks at the log, when requests come all the time
const RETRY_MS = 2000;
const WAIT_S = 20;
let key = sessionStorage.getItem(STORED_KEY) || "";
let session = 0; // goes up when the key changes; what is under way for an older one is dropped

function element(name, text = "", ...inside) {
  const made = document.createElement(name);
  made.textContent = text;
  made.append(...inside);
  return made;
}

class Refused extends Error {
  constructor(status, body) {
    const told = body && body.error;
    super(typeof told === "string" ? told : (told && told.message) || `The Sandbox answered with status ${status}.`);
    this.status = status;
    this.details = (body && body.details) || {};
  }
}

async function call(method, path, body) {
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const options = { method, headers, credentials: "omit", cache: "no-store", redirect: "error" };
  if (body !== undefined) options.body = JSON.stringify(body);
  const answer = await fetch(path, options);
  const said = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refused(answer.status, said);
  return said;
}

// The key

function connect(given) {
  key = given;
  session += 1;
  follow(session);
}

function disconnect(why) {
  session += 1;
  key = "";
  sessionStorage.removeItem(STORED_KEY);
  for (const id of ["log", "faults", "scripted", "fault-name"]) byId(id).replaceChildren();
  shown(false);
  byId("key-error").textContent = why;
  byId("key").focus();
}

function shown(connected) {
  byId("sign-in").hidden = connected;
  byId("connected").hidden = !connected;
  byId("fault-fields").disabled = byId("answer-fields").disabled = !connected;
  byId("requests-hint").textContent = connected
    ? "The newest comes first. Keys, sign-ins and payments are hidden."
    : "Connect to see every request as it arrives.";
}

byId("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  const given = byId("key").value.trim();
  byId("key-error").textContent = "";
  if (!/^[!-~]+$/.test(given)) {
    byId("key-error").textContent = "A key consists of letters, digits and signs, without spaces.";
    return;
  }
  connect(given);
});
byId("forget").addEventListener("click", () => disconnect(""));

// What is new: one call waits at the Sandbox until there is something

async function follow(mine) {
  let known = null;
  while (mine === session) {
    try {
      const asked = known
        ? `?wait_s=${WAIT_S}&epoch=${known.epoch}&revision=${known.revision}&after=${known.last}`
        : "";
      const news = await call("GET", `/sandbox/watch${asked}`);
      const own = await call("GET", "/sandbox/faults?scope=key");
      const scripted = await call("GET", "/sandbox/answers");
      if (mine !== session) return;
      if (!known) welcome(own.known);
      if (!known || known.epoch !== news.epoch) byId("log").replaceChildren();
      known = news;
      addLines(news.lines);
      showFaults(news.faults, own.armed);
      showAnswers(scripted.answers);
      byId("connection").textContent = `Connected. Balance: $${news.balance.usd} of play money.`;
      await pause(PAUSE_MS);
    } catch (error) {
      if (mine !== session) return;
      if (error instanceof Refused && error.status === 401) {
        disconnect("The Sandbox does not know this key.");
        return;
      }
      if (!known) {
        byId("key-error").textContent = "The Sandbox does not answer. Check that it is running, then connect again.";
        return;
      }
      byId("connection").textContent = "The Sandbox does not answer. This page keeps trying.";
      await pause(RETRY_MS);
    }
  }
}

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

function welcome(names) {
  sessionStorage.setItem(STORED_KEY, key);
  const typing = document.activeElement === byId("key") || byId("sign-in").contains(document.activeElement);
  byId("key").value = "";
  descriptions = names;
  byId("fault-name").replaceChildren(...Object.keys(names).map((name) => element("option", name)));
  chooseFault();
  shown(true);
  if (typing) byId("forget").focus(); // the field that had the focus is gone
}

// Requests

function addLines(lines) {
  const body = byId("log");
  for (const line of lines) {
    const row = element("tr");
    const open = element("button", `${line.method} ${line.path}`);
    open.type = "button";
    open.addEventListener("click", () => showDetails(line.request_id));
    const status = element("td", line.status ? String(line.status) : "Connection closed");
    if (line.status === 0 || line.status >= 400) status.className = "failed";
    row.append(
      element("td", new Date(line.at).toLocaleTimeString()),
      element("td", "", open),
      status,
      element("td", `${Math.round(line.duration_s * 1000).toLocaleString()} ms`),
      element("td", line.model),
      element("td", Number(line.cost_usd) ? `$${line.cost_usd}` : ""),
      element("td", line.scripted_answer),
    );
    body.prepend(row);
  }
  while (body.rows.length > MOST_LINES) body.lastElementChild.remove();
}

async function showDetails(id) {
  const title = byId("details-title");
  const text = byId("details-text");
  try {
    const found = await call("GET", `/sandbox/log/${encodeURIComponent(id)}`);
    title.textContent = `${found.method} ${found.path}`;
    text.replaceChildren(...side("Request", found.request), ...side("Response", found.response));
  } catch (error) {
    title.textContent = "Request";
    text.replaceChildren(element("p", error.message));
  }
  byId("details").showModal();
}

function side(name, told) {
  const headers = told.headers.map(([header, value]) => `${header}: ${value}`).join("\n");
  const body = told.text || (told.size_bytes ? `${told.size_bytes.toLocaleString()} bytes` : "Empty");
  return [element("h3", name), element("pre", headers), element("pre", body)].map((made) => {
    if (made.localName === "pre") made.tabIndex = 0; // scrolls with the keyboard
    return made;
  });
}

// Forms: the value of a field goes to the place that `data-value` names; a refusal comes back to the same field

function fieldsOf(form) {
  return [...form.querySelectorAll("[data-value]")].map((box) => ({
    box,
    place: box.dataset.value.split("."),
    input: box.querySelector("input, select, textarea"),
    error: box.querySelector(".error"),
  }));
}

function valueOf(input) {
  const text = input.dataset.kind === "kept" ? input.value : input.value.trim();
  if (text === "") return undefined;
  if (input.dataset.kind === "number") return Number.isFinite(Number(text)) ? Number(text) : text;
  if (input.dataset.kind === "words") return text.split(/\s+/);
  if (input.dataset.kind === "json") return JSON.parse(text);
  if (input.dataset.kind === "body") {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  return text;
}

function bodyOf(form) {
  const body = {};
  for (const { box, place, input, error } of fieldsOf(form)) {
    error.textContent = "";
    input.removeAttribute("aria-invalid");
    if (box.hidden) continue;
    let value;
    try {
      value = valueOf(input);
    } catch {
      complain(input, error, "Enter valid JSON.");
      return null;
    }
    if (value === undefined) continue;
    let inside = body;
    for (const step of place.slice(0, -1)) inside = inside[step] ??= {};
    inside[place.at(-1)] = value;
  }
  return body;
}

function complain(input, error, text) {
  error.textContent = text;
  input.setAttribute("aria-invalid", "true");
  input.focus();
}

function sentencesIn(tree) {
  if (!tree || typeof tree !== "object") return [];
  const below = Object.entries(tree).filter(([name]) => name !== "_errors");
  return [...(tree._errors || []), ...below.flatMap(([, inside]) => sentencesIn(inside))];
}

function showRefusal(form, general, error) {
  let placed = false;
  if (error instanceof Refused) {
    for (const { box, place, input, error: at } of fieldsOf(form)) {
      if (box.hidden) continue;
      const sentences = sentencesIn(place.reduce((tree, step) => tree && tree[step], error.details));
      if (!sentences.length) continue;
      if (placed) at.textContent = sentences.join(". ");
      else complain(input, at, sentences.join(". "));
      placed = true;
    }
  }
  const anything = sentencesIn(error.details).join(". ");
  general.textContent = placed ? "" : anything || error.message;
}

async function attempt(general, work) {
  general.textContent = "";
  try {
    await work();
  } catch (error) {
    general.textContent = error.message;
  }
}

// Failures

let descriptions = {};

function chooseFault() {
  const says = descriptions[byId("fault-name").value] || "";
  byId("fault-does").textContent = says.charAt(0).toUpperCase() + says.slice(1).replaceAll("`", "");
  // A description names what the fault can be given in backticks.
  const taken = new Set([...says.matchAll(/`(\w+)`/g)].map((found) => found[1]));
  for (const { box, place } of fieldsOf(byId("fault-form"))) {
    box.hidden = !(["times", "path"].includes(place[0]) || taken.has(place[0]));
  }
}

byId("fault-name").addEventListener("change", chooseFault);
byId("fault-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const general = byId("fault-error");
  general.textContent = "";
  const body = bodyOf(form);
  if (!body) return;
  const scope = byId("fault-own").checked ? "key" : "all";
  try {
    await call("PUT", `/sandbox/faults/${encodeURIComponent(byId("fault-name").value)}?scope=${scope}`, body);
  } catch (error) {
    showRefusal(form, general, error);
  }
});
byId("faults-off").addEventListener("click", () =>
  attempt(byId("fault-error"), async () => {
    await call("DELETE", "/sandbox/faults");
    await call("DELETE", "/sandbox/faults?scope=key");
  }),
);

function listed(list, rows, empty) {
  // The list is made anew only when it changed, so that the keyboard stays on its buttons.
  const now = JSON.stringify(rows.map((row) => [row.text, row.label]));
  if (list.dataset.now === now && list.childElementCount) return;
  const had = [...list.querySelectorAll("button")].indexOf(document.activeElement);
  list.dataset.now = now;
  list.replaceChildren(
    ...rows.map((row) => {
      const off = element("button", row.button);
      off.type = "button";
      off.setAttribute("aria-label", row.label);
      off.addEventListener("click", row.click);
      return element("li", `${row.text} `, off);
    }),
  );
  if (!rows.length) {
    list.append(element("li", empty));
    list.firstChild.className = "none";
  }
  const buttons = list.querySelectorAll("button");
  if (had >= 0 && buttons.length) buttons[Math.min(had, buttons.length - 1)].focus();
}

function showFaults(forAll, forKey) {
  const rows = [
    ...Object.entries(forAll).map((entry) => [...entry, "all"]),
    ...Object.entries(forKey).map((entry) => [...entry, "key"]),
  ].map(([name, values, scope]) => ({
    text: `${name} ${JSON.stringify(given(values))}${scope === "key" ? ", only for this API key" : ""}`,
    button: "Turn off",
    label: `Turn off ${name}`,
    click: () =>
      attempt(byId("fault-error"), () => call("DELETE", `/sandbox/faults/${encodeURIComponent(name)}?scope=${scope}`)),
  }));
  listed(byId("faults"), rows, "None");
}

const given = (values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== ""));

// Scripted answers

function chooseKind() {
  const kind = byId("answer-kind").value;
  for (const { box } of fieldsOf(byId("answer-form"))) box.hidden = (box.dataset.for || kind) !== kind;
}

byId("answer-kind").addEventListener("change", chooseKind);
byId("answer-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const general = byId("answer-error");
  general.textContent = "";
  const body = bodyOf(form);
  if (!body) return;
  body.answer ??= byId("answer-kind").value === "text" ? { text: "" } : {};
  try {
    await call("POST", "/sandbox/answers", body);
  } catch (error) {
    showRefusal(form, general, error);
  }
});
byId("answers-off").addEventListener("click", () =>
  attempt(byId("answer-error"), () => call("DELETE", "/sandbox/answers")),
);

function showAnswers(answers) {
  const rows = answers.map((answer) => ({
    text: JSON.stringify(answer),
    button: "Remove",
    label: `Remove ${answer.name}`,
    click: () =>
      attempt(byId("answer-error"), () => call("DELETE", `/sandbox/answers/${encodeURIComponent(answer.name)}`)),
  }));
  listed(byId("scripted"), rows, "None");
}

// Code

const ASKED = '{"model": "rialto-handbook", "messages": [{"role": "user", "content": "Where are my chats kept?"}]}';
const PIECES = {
  curl: (base) => `curl --fail --silent --show-error "${base}/chat/completions" \\
  --header "Authorization: Bearer $SANDBOX_KEY" \\
  --header "Content-Type: application/json" \\
  --data '${ASKED}'`,
  Python: (base) => `import os

from openai import OpenAI

client = OpenAI(base_url="${base}", api_key=os.environ["SANDBOX_KEY"])
answer = client.chat.completions.create(
    model="rialto-handbook",
    messages=[{"role": "user", "content": "Where are my chats kept?"}],
)
print(answer.choices[0].message.content)`,
  JavaScript: (base) => `const answer = await fetch("${base}/chat/completions", {
  method: "POST",
  headers: { Authorization: \`Bearer \${process.env.SANDBOX_KEY}\`, "Content-Type": "application/json" },
  body: JSON.stringify(${ASKED}),
});
console.log((await answer.json()).choices[0].message.content);`,
};

function showPieces() {
  for (const [name, piece] of Object.entries(PIECES)) {
    const code = element("pre", piece(`${location.origin}/api/v1`));
    code.tabIndex = 0;
    code.setAttribute("role", "group");
    code.setAttribute("aria-label", name);
    const copy = element("button", "Copy");
    copy.type = "button";
    copy.setAttribute("aria-label", `Copy ${name}`);
    const said = element("span");
    said.setAttribute("role", "status");
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        said.textContent = " Copied";
      } catch {
        getSelection().selectAllChildren(code);
        said.textContent = " Selected. Press Ctrl+C to copy.";
      }
    });
    byId("pieces").append(element("h3", name), code, copy, said);
  }
}

// What is served

const WAYS = { key: "API key", wallet: "wallet", payment: "payment" };

async function showServed() {
  const paths = (await call("GET", "/openapi.json")).paths;
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const schema = Object.values((operation.requestBody || {}).content || {}).map((one) => one.schema)[0] || {};
      const needed = new Set(schema.required);
      const fields = Object.keys(schema.properties || {}).map((name) => (needed.has(name) ? `${name}*` : name));
      const ways = operation.security.flatMap((one) => Object.keys(one));
      const open = !ways.length || operation.security.some((one) => !Object.keys(one).length);
      const row = element("tr");
      const cells = [method.toUpperCase(), path, open ? "Not needed" : ways.map((way) => WAYS[way] || way).join(" or "), fields.join(", ")];
      row.append(...cells.map((text) => element("td", text)));
      byId("routes").append(row);
    }
  }
}

byId("served-filter").addEventListener("input", (event) => {
  const wanted = event.target.value.trim().toLowerCase();
  for (const row of byId("routes").rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
});

shown(false);
chooseKind();
showPieces();
showServed().catch((error) => byId("routes").replaceChildren(element("tr", "", element("td", error.message))));
if (key) connect(key);

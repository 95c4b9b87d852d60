// All text goes in through textContent: nothing that was asked, found or written becomes markup.

// What labels, reasons and numbers mean, what is flagged, which label colours a part that claims
// share, and questions to try.
const loading = fetch("words").then((response) => response.json());
loading.then(examples, () => {}); // where it fails, the first question tells
let words = null;
const NO_ANSWER = {
  422: "The question must have 1 to 500 characters.",
  503: "Too many questions at once. Try again in a moment.",
};

const at = (id) => document.getElementById(id);
let running = null; // the AbortController of the question being answered

function put(parent, tag, text, className = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = className;
  parent.append(made);
  return made;
}

function say(text, kind = "") {
  at("status").textContent = text;
  at("status").className = kind;
}

// Asking ------------------------------------------------------------------------------------------

async function ask(question) {
  running?.abort();
  const mine = (running = new AbortController());
  begin(question);
  try {
    await follow(question, mine.signal);
  } catch (error) {
    if (running === mine) say(mine.signal.aborted ? "Stopped." : reason(error), "error");
  }
  if (running === mine) busy(false);
}

function reason(error) {
  return error instanceof TypeError ? "The server cannot be reached." : error.message;
}

async function follow(question, signal) {
  words ??= await loading;
  const response = await fetch("ask", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ question }),
    signal,
  });
  if (!response.ok) {
    throw new Error(NO_ANSWER[response.status] ?? `The server answered ${response.status}.`);
  }
  const answer = { claims: [], passages: 0 };
  for await (const { event, data } of events(response.body)) {
    signal.throwIfAborted();
    SHOW[event]?.(answer, data);
  }
  if (!answer.done) throw new Error("The connection was lost before the answer was finished.");
}

// Server-sent events of a response: EventSource itself could not POST, and would ask again.
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let held = ""; ; ) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (held + value).split("\n\n");
    held = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s)));
      if (fields.event) yield { event: fields.event, data: JSON.parse(fields.data) };
    }
  }
}

// Showing -----------------------------------------------------------------------------------------

function begin(question) {
  busy(true);
  say("Searching ...");
  for (const id of ["answer", "detail", "legend"]) at(id).replaceChildren();
  at("asked").textContent = question;
  at("sources").hidden = true;
  at("result").hidden = false;
}

function examples({ examples: questions }) {
  for (const question of questions) {
    const button = put(at("examples"), "button", question);
    button.type = "button";
    button.addEventListener("click", () => {
      at("question").value = question;
      ask(question);
    });
  }
}

function busy(is) {
  at("stop").hidden = !is;
  at("answer").classList.toggle("writing", is);
}

const SHOW = {
  passages(answer, { passages }) {
    answer.passages = passages.length;
    const list = at("sources").querySelector("ol");
    list.replaceChildren();
    for (const { title, text } of passages) {
      const item = put(list, "li", "");
      put(item, "strong", title);
      put(item, "span", ` ${text}`);
    }
    at("sources").querySelector("summary").textContent = `Passages found: ${passages.length}`;
    at("sources").hidden = passages.length === 0;
    say("Writing and checking ...");
  },

  claim(answer, { parts, claims }) {
    const first = answer.claims.length;
    answer.claims.push(...claims);
    for (const { text, claims: of } of parts) {
      const stated = of.map((i) => answer.claims[first + i]);
      if (stated.length === 0) at("answer").append(text);
      else putPart(text, stated);
    }
    legend(answer.claims);
    say(`Writing and checking ... ${count(answer.claims.length, "claim")} so far`);
  },

  done(answer, { seconds }) {
    answer.done = true;
    const among = (...labels) => answer.claims.filter((c) => labels.includes(c.label)).length;
    const claims = answer.claims.length - among("not-a-claim");
    const missing = among("unverified") ? `, ${among("unverified")} not verified` : "";
    say(
      `Done: ${count(claims, "claim")}, ${among(...words.weak) || "none"} flagged${missing}. ` +
        `Checking took ${seconds.toFixed(1)} s.`,
    );
  },

  error(answer, { message }) {
    throw new Error(message);
  },
};

function count(n, what) {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}

function worst(claims) {
  return words.worst.find((label) => claims.some((claim) => claim.label === label));
}

function putPart(text, claims) {
  const label = worst(claims);
  const { name, shape } = words.labels[label];
  const part = put(at("answer"), "span", text, `part ${label}`);
  if (shape) part.dataset.shape = shape; // drawn by the style: it is no text of the answer
  part.tabIndex = 0;
  part.setAttribute("role", "button");
  part.setAttribute("aria-label", `${text.trim()} (${name})`);
  part.setAttribute("aria-controls", "detail");
  part.setAttribute("aria-expanded", "false");
  const show = () => detail(part, claims);
  for (const how of ["mouseenter", "focus", "click"]) part.addEventListener(how, show);
  part.addEventListener("click", () => part.scrollIntoView({ block: "nearest" }));
  part.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault(); // Space would scroll
    part.click();
  });
}

function detail(part, claims) {
  close();
  part.classList.add("on");
  part.setAttribute("aria-expanded", "true");
  for (const claim of claims) card(claim);
}

function close() {
  for (const part of document.querySelectorAll(".part.on")) {
    part.classList.remove("on");
    part.setAttribute("aria-expanded", "false");
  }
  at("detail").replaceChildren();
}

function card(claim) {
  const made = put(at("detail"), "article", "", claim.label);
  const { name, meaning, shape } = words.labels[claim.label];
  put(made, "h2", `${shape} ${name}`.trim());
  put(made, "p", claim.text);
  put(made, "p", meaning, "small");
  if (claim.label === "not-a-claim") return;
  const numbers = put(made, "dl", "");
  for (const [key, [term, said]] of Object.entries(words.numbers)) {
    put(numbers, "dt", term).title = said;
    put(numbers, "dd", claim[key] === null ? "-" : claim[key].toFixed(2)).title = said;
  }
  if (claim.reason) put(made, "p", `(${words.reasons[claim.reason] ?? claim.reason})`, "small");
  for (const stretch of [claim.evidence, claim.against]) {
    if (!stretch) continue;
    put(made, "p", `${stretch.lead}:`, "small");
    put(made, "blockquote", stretch.text);
  }
  for (const difference of claim.differs) put(made, "p", difference, "small");
}

function legend(claims) {
  at("legend").replaceChildren();
  for (const [label, { name, meaning, shape }] of Object.entries(words.labels)) {
    if (!claims.some((claim) => claim.label === label)) continue;
    const item = put(at("legend"), "li", "", label);
    put(item, "b", `${shape} ${name}`.trim());
    put(item, "span", ` ${meaning}`);
  }
  // for those who cannot hover over a number
  at("numbers").hidden = false;
  const list = at("numbers").querySelector("dl");
  list.replaceChildren();
  for (const [term, said] of Object.values(words.numbers)) {
    put(list, "dt", term);
    put(list, "dd", said);
  }
}

at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  ask(at("question").value);
});
document.addEventListener("keydown", (event) => event.key === "Escape" && close());
document.addEventListener("click", (event) => {
  if (!event.target.closest(".part, #detail, #sources")) close();
});
at("stop").addEventListener("click", () => running?.abort());

/** All forms, and the orders of a user who has signed in. What users wrote is set as text, never as HTML. */
const STATES = { composing: "Composing …", ready: "Ready", failed: "The next one is free.", splitting: "Splitting …" };
const list = document.querySelector("#orders");
const news = document.querySelector("[role=status]");
const cards = new Map(); // by the order's id; a card stays, so that what plays goes on
let refreshed = Promise.resolve();
let timer;

/** @throws {Error} whose message is for the user */
async function call(path, method = "GET", fields) {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(path, { method, headers, body: JSON.stringify(fields) });
  const result = await response.json();
  if (!response.ok) throw new Error(result.error.message ?? result.error);
  return result.data ?? result;
}

function create(name, members, ...children) {
  const element = Object.assign(document.createElement(name), members);
  element.append(...children);
  return element;
}

function addPlayer(form, label, src) {
  const audio = create("audio", { controls: true, src, ariaLabel: label });
  form.before(create("figure", {}, create("figcaption", {}, label), audio));
}

function addCard(id, prompt) {
  const button = create("button", { className: "quiet", value: `/orders/${id}/split` }, "Split into stems for $1");
  const form = create("form", { method: "post" }, button, create("p", { role: "alert" }));
  const head = [create("div", { className: "cover" }), create("h3", {}, prompt), create("p", { className: "soft" })];
  const card = create("li", { className: "card", tabIndex: -1 }, ...head, form);
  list.prepend(card);
  cards.set(id, card);
  return card;
}

async function show({ id, prompt, cents, state, error, job_id, track_id }) {
  const card = cards.get(id) ?? addCard(id, prompt);
  const [cover, , facts] = card.children;
  const form = card.lastChild;
  const words = [error, STATES[state] ?? "Ready, with stems"].filter((one) => one !== null).join(" ");
  const text = `$${cents / 100} · ${words}`;
  if (facts.textContent === text) return;
  if (track_id !== null && card.querySelector("audio") === null) {
    const { title, play_url, thumbnail_url } = await call(`/music/api/v1/tracks/${track_id}`);
    addPlayer(form, title, play_url);
    if (thumbnail_url !== null) cover.append(create("img", { src: thumbnail_url, alt: "" }));
  }
  if (state === "split") {
    const { outputs } = await call(`/music/api/v1/jobs/${job_id}`);
    for (const { label, url } of outputs) addPlayer(form, label, url);
  }
  facts.textContent = text;
  if (form.contains(document.activeElement)) card.focus();
  form.hidden = state !== "ready";
  card.dataset.state = state;
  news.textContent = `${prompt}: ${words}`;
}

/** Shows the orders, one refresh after another, and looks again while one of them goes on. */
function refresh() {
  clearTimeout(timer);
  refreshed = refreshed.then(async () => {
    try {
      const orders = await call("/orders");
      for (const order of orders.reverse()) await show(order);
      if (orders.some(({ state }) => state.endsWith("ing"))) timer = setTimeout(refresh, 1_000);
    } catch (error) {
      news.textContent = error.message;
      timer = setTimeout(refresh, 5_000);
    }
  });
}

document.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { target: form, submitter } = event;
  const alert = form.querySelector("[role=alert]");
  if (form.ariaBusy === "true") return;
  form.ariaBusy = "true";
  alert.textContent = "";
  try {
    await call(submitter.value, "POST", Object.fromEntries(new FormData(form)));
    if (submitter.value.startsWith("/sign")) location.assign("/");
    else refresh();
    form.reset();
  } catch (error) {
    alert.textContent = error.message;
  }
  form.ariaBusy = "false";
});
if (list !== null) refresh();

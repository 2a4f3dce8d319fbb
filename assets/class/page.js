// The students' page of a class. The server says what is asked and shown (events `state`), what this
// browser has voted (`mine`, once) and when the class is over (`end`). Nothing is stored here. Texts
// reach the page through textContent alone.

import { RETRY, bars, element, words } from "./classroom.js";

const at = (name) => document.getElementById(name);
const code = decodeURIComponent(location.pathname.split("/").pop()).toUpperCase();
let mine = {}; // step -> the votes of both rounds
let heading = "";
let stage = -1; // of the class, as it is on the page

if (code) listen();
else askForCode();

function askForCode() {
  at("join").hidden = at("about").hidden = false;
  at("join").addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = at("code").value.replace(/[^A-Za-z0-9]/g, "").toUpperCase();
    if (typed) location.assign(typed);
    else at("status").textContent = "Type the code that your teacher shows.";
  });
}

function listen() {
  const source = new EventSource(`${encodeURIComponent(code)}/events`);
  source.addEventListener("mine", (event) => (mine = JSON.parse(event.data)));
  source.addEventListener("state", (event) => show(JSON.parse(event.data)));
  source.addEventListener("end", (event) => {
    source.close();
    end(JSON.parse(event.data).says);
  });
  source.addEventListener("error", () => {
    say("Connection lost. Reconnecting …");
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, RETRY);
  });
}

function end(says) {
  clear();
  at("heading").textContent = "Class";
  say(says);
  if (heading) document.querySelector("footer").hidden = true; // what it says of guesses is over
  else askForCode();
}

function clear() {
  for (const name of ["title", "given", "form", "shown"]) at(name).replaceChildren();
  at("form").hidden = true;
}

function say(text) {
  if (at("status").textContent !== text) at("status").textContent = text;
}

function show(told) {
  const open = told.kind && told.kind !== "look" && (told.phase === "ask" || told.phase === "again");
  say(sentence(told, open));
  if (told.stage === stage) return; // connected again: what is being typed stays
  stage = told.stage;
  clear();
  at("title").textContent = told.title;
  at("heading").textContent = heading = told.heading ?? "You have joined.";
  if (told.say) at("given").append(element("p", "say", told.say));
  for (const line of told.given ?? []) at("given").append(element("p", "", line));
  if (told.ask && !open) at("given").append(element("strong", "", told.ask));
  if (open) ask(told);
  else if (told.bars?.length) at("shown").append(bars(told, place(told)));
  if (told.truth) answer(told);
}

function sentence(told, open) {
  if (told.phase === "wait") return "Wait for the first question.";
  if (told.phase === "revealed") return told.truth.says ? `The model: ${told.truth.says}` : "Shown.";
  if (told.phase === "shown") return "Votes are closed. Talk to your neighbour: why?";
  if (!open) return "Look at what the teacher shows.";
  if (vote(told) !== null) return "Your guess is in. You can change it until the votes are shown.";
  return told.phase === "again" ? "Vote again, with what you know now." : "What do you think?";
}

function answer(told) {
  const reply = told.truth.replies[mine[told.step]?.[told.round] ?? -1];
  if (reply) at("shown").append(element("p", "", reply));
  at("shown").append(element("p", "model", told.truth.reveal));
  if (told.words.length) at("shown").append(words(told));
}

// --- voting -----------------------------------------------------------------------------------

function vote(told) {
  return mine[told.step]?.[told.phase === "again" ? 1 : 0] ?? null;
}

// The bar of one's own last answer.
function place(told) {
  const [first, second] = mine[told.step] ?? [null, null];
  const last = second ?? first;
  if (told.kind === "choose") return last ?? -1;
  if (told.kind !== "number" || last === null) return -1;
  const [low, high] = told.ends;
  const parts = told.bars.length;
  const starts = told.bars.map((_, part) => low + Math.floor(((high - low + 1) * part) / parts));
  return starts.filter((start) => last >= start).length - 1;
}

function ask(told) {
  const before = vote(told) ?? mine[told.step]?.[0] ?? null;
  const set = element("fieldset");
  set.append(element("legend", "", told.ask), ...inputs(told, before));
  const button = element("button", "", vote(told) === null ? "Send my guess" : "Change my guess");
  at("form").append(set, button);
  at("form").hidden = false;
  at("form").onsubmit = (event) => {
    event.preventDefault();
    send(told, read(told), button);
  };
}

function inputs(told, before) {
  if (told.kind === "choose") return told.choices.map((says, number) => choice(says, number, before));
  const input = element("input");
  input.name = "guess";
  input.ariaLabel = told.ask;
  if (told.kind === "word") {
    Object.assign(input, { type: "text", autocomplete: "off", autocapitalize: "none", value: before ?? "" });
    return [input];
  }
  const [low, high] = told.ends;
  const value = element("output");
  Object.assign(input, { type: "range", min: low, max: high, value: before ?? Math.floor((low + high) / 2) });
  const write = () => (value.textContent = input.ariaValueText = `${input.value} ${told.unit}`.trim());
  input.oninput = write;
  write();
  return [value, input];
}

function choice(says, number, before) {
  const label = element("label", "choice");
  const input = element("input");
  Object.assign(input, { type: "radio", name: "guess", value: number, checked: number === before });
  label.append(input, element("span", "", says));
  return label;
}

function read(told) {
  if (told.kind === "word") return at("form").elements.guess.value.trim();
  const value = at("form").elements.guess.value;
  return value === "" ? null : Number(value);
}

async function send(told, guess, button) {
  if (guess === null || guess === "") return say("Choose an answer first.");
  button.disabled = true;
  try {
    const answer = await fetch(`${encodeURIComponent(code)}/vote`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ stage: told.stage, guess }),
    });
    if (answer.ok) {
      (mine[told.step] ??= [null, null])[told.phase === "again" ? 1 : 0] = guess;
      button.textContent = "Change my guess";
      say("Your guess is in. You can change it until the votes are shown.");
    } else say((await answer.json().catch(() => ({}))).error ?? "Your guess was not accepted. Try again.");
  } catch {
    say("Your guess could not be sent. Try again.");
  }
  button.disabled = false;
}

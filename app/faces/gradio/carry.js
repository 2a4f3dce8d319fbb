// What a visitor wrote goes along by the menu. It is kept in the tab's own storage, and what is in the
// boxes in the entry of the history: Back, Forward and Reload find a page as it was left.
// The address has the texts that were asked about, and the model.
// Runs once per page; returns what the page is opened with, for `app/faces/gradio/carry.py`.
(kept) => {
  const LONGEST = 4000; // characters of an address
  const OWN = "bx-own", GAP = /_{3,}|<mask>|\[\s?mask\s?\]/i;
  const boxes = () =>
    Object.fromEntries(
      [...document.querySelectorAll('[id^="bx-text-"] :is(textarea, input)')].map((box) => [
        box.closest('[id^="bx-text-"]').id.slice(8), box.value,
      ]),
    );
  const stored = () => {
    try {
      return JSON.parse(sessionStorage.getItem(OWN));
    } catch {
      return null; // none, or a browser that keeps nothing for frames
    }
  };
  const before = history.state?.bx;
  const linked = [...new URLSearchParams(location.search).keys()].some((key) => key !== "model");
  let typed = before ? before.typed : linked;
  const remember = () => history.replaceState({ ...history.state, bx: { texts: boxes(), typed } }, "");
  const keep = () => {
    const texts = boxes(), last = stored();
    if (!typed || !texts.text?.trim()) return;
    const whole = last && (last.whole && GAP.test(last.texts.text) ? last.whole : last.texts.text);
    try {
      sessionStorage.setItem(OWN, JSON.stringify({ texts, whole: whole ?? "" }));
    } catch {}
  };
  document.addEventListener("input", (event) => {
    if (!event.isTrusted || !event.target.closest('[id^="bx-text-"]')) return;
    typed = true;
    remember();
    document.querySelector(".bx-result .bx-example")?.setAttribute("hidden", "");
  });
  addEventListener("pagehide", keep);
  window.bxFilled = (byHand) => {
    typed = byHand ?? typed;
    setTimeout(remember, 300); // when the boxes have been drawn
  };
  window.bxAsked = (asked) => {
    const told = new URLSearchParams(Object.entries(asked).filter(([, text]) => text)).toString();
    const query = told && told.length <= LONGEST ? `?${told}` : "";
    history.replaceState(history.state, "", `${location.pathname}${query}`); // Gradio's <base> is another
  };
  return JSON.stringify(before ? { here: before.texts } : { own: stored() });
}

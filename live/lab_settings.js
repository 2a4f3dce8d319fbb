/** The settings of a run: what they can be, how they are named, and the address that has them. */

import { shortened } from "./blocks.js";
import { grouped } from "./numbers.js";

const ALWAYS = ["corpus", "seed", "steps"]; // not a change of what is tried
const LED = ["run", "watch"]; // in links of the time when the server trained

/** Write a value as Python does. */
const written = (value) => typeof value === "boolean" ? (value ? "True" : "False") : String(value);

/** Numbers from the lowest on; other choices stay as they are. */
export const inOrder = (values) => typeof values[0] === "number" ? [...values].sort((a, b) => a - b) : values;

/** All settings of the lab. */
export class Choices {
  /**
   * @param data by the name of a setting its `usual` value, its `choices`, what they are called
   *   (`names`) and its label; and the `changes` to try
   */
  constructor({ usual, choices, labels, names = {}, changes }) {
    Object.assign(this, { usual, labels });
    this.called = (name, value) => names[name]?.[this.of(name).indexOf(value)];
    this.names = Object.keys(usual);
    this.of = (name) => choices[name] ?? [true, false];
    this.changes = changes.filter(({ values }) => !("corpus" in values) || values.corpus === usual.corpus);
  }

  /** Return a value as a person reads it. */
  shown(name, value) {
    if (typeof value === "boolean") return value ? "yes" : "no";
    return this.called(name, value) ?? (Number.isInteger(value) ? grouped(value) : String(value));
  }

  /** Return the same run without a change. */
  usualOf(settings) {
    return { ...this.usual, ...Object.fromEntries(ALWAYS.map((name) => [name, settings[name]])) };
  }

  /** Return the names of settings in which two runs differ. */
  unlike(one, other = this.usual) {
    return this.names.filter((name) => one[name] !== other[name]);
  }

  /** Return whether anything is changed that is tried. */
  changed(settings) {
    return this.unlike(settings, this.usualOf(settings)).length > 0;
  }

  /** Return settings with another value; without `several`, a change resets the others. */
  set(settings, name, value, several) {
    const kept = several || (ALWAYS.includes(name) && name !== "corpus") ? settings : this.usualOf(settings);
    return { ...kept, [name]: value };
  }

  /** Return which change settings are; -1 for none. */
  change(settings) {
    return this.changes.findIndex(({ values }) => !this.unlike(settings, this.with(settings, values)).length);
  }

  with(settings, values) {
    return { ...this.usualOf(settings), ...values, corpus: settings.corpus };
  }

  /** Name settings with their values. */
  named(settings, names = this.unlike(settings)) {
    return names.map((name) => `${this.labels[name]}: ${this.shown(name, settings[name])}`).join(", ") || "the usual run";
  }

  link(settings) {
    const pairs = this.unlike(settings).map((name) => [name, written(settings[name])]);
    return new URLSearchParams(pairs).toString();
  }

  /** Put what differs from the usual run into the address. */
  write(settings) {
    const url = new URL(location);
    for (const name of [...this.names, ...LED]) url.searchParams.delete(name);
    for (const name of this.unlike(settings)) url.searchParams.set(name, written(settings[name]));
    history.replaceState(history.state, "", url);
  }

  /** Read the address: `values`, and sentences on what cannot be obeyed. */
  read() {
    const found = new URLSearchParams(location.search);
    const [values, says] = [{}, []];
    for (const name of this.names.filter((each) => found.has(each))) {
      const value = this.of(name).find((each) => written(each) === found.get(name));
      if (value !== undefined) values[name] = value;
      else {
        const all = inOrder(this.of(name)).map((each) => this.shown(name, each)).join(", ");
        says.push(`${this.labels[name]} is “${shortened(found.get(name), 40)}” in this link; it can be ${all}. ` +
          `The usual ${this.shown(name, this.usual[name])} is taken.`);
      }
    }
    if (LED.some((name) => found.has(name))) {
      says.push("This link led to a run on the server. Runs are now trained in your browser: choose the " +
        "settings and press Train here.");
    }
    if (values.corpus === "own") says.push("A link never has the text: paste it here.");
    return { values, says };
  }
}

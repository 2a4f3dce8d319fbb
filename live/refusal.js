/** An input that cannot be answered; the message says what is wrong and what to do. */
export class Refusal extends Error {}

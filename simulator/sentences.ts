/**
 * What the simulated model says where no instruction asks for a size: two sentences that a person can read. They say who answers,
 * and name a few words of the question, so that two questions get two answers.
 */

/** Words of an answer, and so its tokens. */
export const SENTENCE_WORDS = 16;
const MAX_TOPIC_WORDS = 5;
/** Characters of a question that are looked at, and of a word that is named. */
const MAX_LOOKED_AT = 400;
const MAX_WORD = 24;

/** Three words each, before the topic. */
const OPENINGS = ["You asked about", "Your message says", "You wrote to", "Your words were", "I have read"];
const WITHOUT_TOPIC = "Thank you for your message.";

/** By their number of words: what an opening and one to five words of a topic leave of {@link SENTENCE_WORDS}. */
const CLOSINGS: Readonly<Record<number, readonly string[]>> = {
  8: ["I am Weir's built-in simulator, not a model.", "This is Weir's built-in simulator, not a model."],
  9: [
    "I am Weir's built-in simulator, not a real model.",
    "This is Weir's built-in simulator, which knows no answer.",
  ],
  10: [
    "I am Weir's built-in simulator, so I know no answer.",
    "This is Weir's built-in simulator; a model would answer it.",
  ],
  11: [
    "I am Weir's built-in simulator; a real model would answer this.",
    "This is Weir's built-in simulator; ask a real model for more.",
  ],
  12: [
    "I am Weir's built-in simulator; a provider's model would answer this question.",
    "This is Weir's built-in simulator; ask a provider's model for an answer.",
  ],
};

/**
 * The words of an answer, {@link SENTENCE_WORDS} of them, each but the first with the space before it.
 * @param question what the user wrote last
 * @param variant a whole number from 0: ten in a row are ten different answers, if the question has a word to name
 */
export function sentences(question: string, variant: number): string[] {
  const topic = topicOf(question);
  const opening = OPENINGS[variant % OPENINGS.length] ?? "";
  const first = topic === undefined ? WITHOUT_TOPIC : `${opening} '${topic}'.`;
  const closings = CLOSINGS[SENTENCE_WORDS - first.split(" ").length] ?? [];
  const closing = closings[Math.floor(variant / OPENINGS.length) % closings.length] ?? "";
  return `${first} ${closing}`.split(" ").map((word, at) => (at === 0 ? word : ` ${word}`));
}

/**
 * The first plain words of a text; undefined where it has none. Markup, addresses, links, numbers and code are left out, so that what
 * an answer repeats means nothing to whoever shows it.
 */
function topicOf(question: string): string | undefined {
  const words = question
    .slice(0, MAX_LOOKED_AT)
    .split(/\s+/)
    .map((word) => word.replace(/^\p{P}+|\p{P}+$/gu, ""))
    .filter((word) => word.length <= MAX_WORD && /^\p{L}[\p{L}\p{M}\p{N}'’-]*$/u.test(word));
  if (words.length === 0) return undefined;
  return `${words.slice(0, MAX_TOPIC_WORDS).join(" ")}${words.length > MAX_TOPIC_WORDS ? "..." : ""}`;
}

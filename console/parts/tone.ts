/** How a word of state is coloured. */
export type Tone = "plain" | "good" | "warn" | "bad" | "accent";

/** What an operator is told of a cell. In a file of its own: a gateway alone names these words, and loads nothing of Redis. */

/** `alive`: it said something less than 2 s ago. `left`: it stopped in good order. `retired`: and did not start again since. */
export const CELL_STATES = ["alive", "silent", "left", "retired"] as const;

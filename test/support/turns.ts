/** Turns of the event loop, while something long is done in slices. */

/** Looks in each turn of the event loop, until the returned function is called. */
export function eachTurn(look: () => void): () => void {
  let isOver = false;
  const turn = () => {
    if (isOver) return;
    look();
    setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    isOver = true;
  };
}

/** @returns turns of the event loop that began while `act` ran, and what it resolved with */
export async function turnsDuring<T>(
  act: () => T | Promise<T>,
): Promise<{ readonly turns: number; readonly value: T }> {
  let turns = 0;
  const end = eachTurn(() => {
    turns++;
  });
  try {
    return { value: await act(), turns };
  } finally {
    end();
  }
}

/** All slices of the work, one behind the other. */
export function drained<T>(work: Generator<undefined, T, undefined>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** Questions from process to process, each with a number that its answer carries. */

export type Answer<Value = unknown> = { readonly value: Value } | { readonly error: string };

/** The answer to a question, once what it asks for is done or has failed. */
export const answerOf = <Value>(done: Promise<Value>): Promise<Answer<Value>> =>
  done.then(
    (value) => ({ value }),
    (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
  );

export class Questions<Question> {
  readonly #send: (number: number, question: Question) => void;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #number = 0;

  constructor(send: (number: number, question: Question) => void) {
    this.#send = send;
  }

  /** @throws Error (as a rejection) of whoever answers, or where nobody does within the time */
  ask(question: Question, withinMs: number): Promise<unknown> {
    const number = ++this.#number;
    return new Promise((resolve, reject) => {
      const answered = (answer: Answer) => {
        clearTimeout(timer);
        this.#waiting.delete(number);
        if ("error" in answer) reject(new Error(answer.error));
        else resolve(answer.value);
      };
      const timer = setTimeout(() => answered({ error: "no answer in time" }), withinMs);
      timer.unref();
      this.#waiting.set(number, answered);
      this.#send(number, question);
    });
  }

  /** The answer to the question with this number. */
  heard(number: number, answer: Answer): void {
    this.#waiting.get(number)?.(answer);
  }

  /** Nobody will answer any more: all that wait fail. */
  fail(error: string): void {
    for (const answer of [...this.#waiting.values()]) answer({ error });
  }
}

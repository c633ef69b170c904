/** A value that is made when a caller first asks for it, and kept. A failure is not kept: the next caller has it made again. */
export class Once<T> {
  readonly #make: () => Promise<T>;
  #made: Promise<T> | undefined;

  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  /** Undefined until it is first asked for, and after a failure. */
  get made(): Promise<T> | undefined {
    return this.#made;
  }

  get(): Promise<T> {
    this.#made ??= this.#make().catch((error: unknown) => {
      this.#made = undefined;
      throw error;
    });
    return this.#made;
  }
}

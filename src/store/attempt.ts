/** Runs what may fail without harm: a later start or a later round does it. */
export function attempt(onFailure: (error: unknown) => void, act: () => void): void {
  try {
    act();
  } catch (error) {
    onFailure(error);
  }
}

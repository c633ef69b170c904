/** The value that JSON text stands for; undefined where it is no JSON, for no JSON stands for undefined. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

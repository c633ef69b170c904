/** The value of a JSON text. Undefined where the text is not JSON: no JSON text has that value. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

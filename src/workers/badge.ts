/** A badge as pages of code repositories show them: a label, and what is said of it. */

export interface Badge {
  readonly label: string;
  readonly message: string;
  readonly color: string;
}

/**
 * An SVG image, with every text escaped. The library measures texts by tables of widths that take 6 MB of V8's heap, so only a worker
 * thread loads it, and only for the first badge.
 */
export async function drawBadge({ label, message, color }: Badge): Promise<string> {
  const { makeBadge } = await import("badge-maker");
  return makeBadge({ label, message, color });
}

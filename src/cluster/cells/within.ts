/** Waiting with an end. */

/** Whether the promise was fulfilled within the time. Rejects as it does, if that comes first. */
export async function within(ms: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, ms));
  });
  const isDone = await Promise.race([promise.then(() => true), late]).finally(() => clearTimeout(timer));
  return isDone;
}

/** Sizes of files in words. Pure. */

const UNITS = ["bytes", "KB", "MB", "GB", "TB"] as const;
const STEP = 1000;

/** `812 bytes`, `4.2 MB`. */
export function sizeWords(bytes: number): string {
  let [size, unit] = [bytes, 0];
  while (size >= STEP && unit < UNITS.length - 1) {
    size /= STEP;
    unit++;
  }
  return `${unit === 0 ? size : size.toFixed(size < 10 ? 1 : 0)} ${UNITS[unit]}`;
}

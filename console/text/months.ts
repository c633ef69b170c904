/** Months as the API names them. Pure. */

/** The month of a time and those before it, newest first: `2026-11`. By India's clock, as books are kept. @param count so many */
export function monthsBefore(now: Date, count: number): string[] {
  const [year = 0, month = 0] = new Intl.DateTimeFormat("en-CA", {
    year: "numeric",
    month: "2-digit",
    timeZone: "Asia/Kolkata",
  })
    .format(now)
    .split("-")
    .map(Number);
  return Array.from({ length: count }, (_, back) => {
    const at = year * 12 + month - 1 - back;
    return `${Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, "0")}`;
  });
}

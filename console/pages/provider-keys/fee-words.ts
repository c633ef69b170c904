/** What a call costs that an org's own provider key answered, in words. Pure. */

interface Fee {
  /** Share of the usual price, basis points. */
  readonly fee_bps: number;
  /** For each call, micro-USD. */
  readonly fee_micro_per_request: number;
}

/** @param money micro-USD as text */
export function feeWords(
  { fee_bps: bps, fee_micro_per_request: micro }: Fee,
  money: (micro: number) => string,
): string {
  const share = bps === 0 ? "" : `${Number((bps / 100).toFixed(2))} % of what it would have cost otherwise`;
  const each = micro === 0 ? "" : `${money(micro)} a call`;
  const fee = [share, each].filter((part) => part !== "").join(" and ");
  const billed = "The provider bills you for the tokens.";
  if (fee === "") return `A call that your own key answers costs nothing here. ${billed}`;
  return `A call that your own key answers costs ${fee}. ${billed}`;
}

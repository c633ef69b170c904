/** What an endpoint does with prompts, in words. Pure. */

/** Days by which a provider's record says that it names no limit. */
const NO_LIMIT_DAYS = 36_500;

interface DataPolicy {
  readonly trains: boolean;
  readonly retention_days: number;
  readonly zdr: boolean;
}

/** `does not train; keeps prompts 30 days` */
export function dataPolicyText({ trains, retention_days: days, zdr }: DataPolicy): string {
  const training = trains ? "trains on prompts" : "does not train";
  return `${training}; ${keptText(days, zdr)}`;
}

function keptText(days: number, zdr: boolean): string {
  if (zdr || days === 0) return "keeps nothing";
  if (days >= NO_LIMIT_DAYS) return "keeps prompts, with no limit named";
  return `keeps prompts ${days} ${days === 1 ? "day" : "days"}`;
}

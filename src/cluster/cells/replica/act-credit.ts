/**
 * Orgs' credit as one run of an act sees it. The dataset has the balances, and charges of all cells change them: so the cell asks for
 * them before the run, and they stay as they are until the act is committed or refused.
 */

/** An org's credit in the dataset. */
export interface OrgFunds {
  /** Number of the newest entry of its ledger; 0 before the first. */
  readonly seq: number;
  readonly balanceMicroUsd: number;
  /**
   * What calls under way at all cells hold, at most some hundred milliseconds old. Where a cell does not give back what it leased
   * and does not use, that too: it may be away, and nobody knows what it spends.
   */
  readonly heldMicroUsd: number;
}

/** The run read the credit of an org that the cell had not asked for: the act runs again once it has. */
export class NeedsCredit extends Error {}

export const NO_FUNDS: ReadonlyMap<string, OrgFunds> = new Map();

/**
 * Postings of an org: its id, the entry they follow on, and the amounts. 0: they take only what no call holds · 1: also more, once no cell
 * has idle credit of the org · 2: at once, whatever cells have leased.
 */
type OrgPostings = [orgId: string, seq: number, mayOverdraw: number, ...amounts: number[]];

export class ActCredit {
  readonly #funds: ReadonlyMap<string, OrgFunds>;
  readonly #postings = new Map<string, OrgPostings>();
  /** Orgs whose credit the run read and did not have. */
  readonly needed = new Set<string>();

  constructor(funds: ReadonlyMap<string, OrgFunds>) {
    this.#funds = funds;
  }

  /** With what this run has posted. @throws NeedsCredit */
  of(orgId: string): OrgFunds {
    const found = this.#funds.get(orgId);
    if (found === undefined) {
      this.needed.add(orgId);
      throw new NeedsCredit(orgId);
    }
    const [, , , ...amounts] = this.#postingsOf(orgId, found);
    return {
      seq: found.seq + amounts.length,
      balanceMicroUsd: amounts.reduce((sum, amount) => sum + amount, found.balanceMicroUsd),
      heldMicroUsd: found.heldMicroUsd,
    };
  }

  /** Adds an entry. Once a posting of an org may overdraw, all of the same run may. @throws NeedsCredit */
  post(orgId: string, amountMicroUsd: number, mayOverdraw: boolean): void {
    this.of(orgId);
    const postings = this.#postingsOf(orgId, this.#funds.get(orgId) as OrgFunds);
    if (mayOverdraw) postings[2] = 1;
    postings.push(amountMicroUsd);
  }

  /**
   * As the script takes it: orgs that were only read too, because the act depends on what it read.
   * @param isInsistent cells that were asked to give idle credit back did not
   */
  asOperation(isInsistent: boolean): readonly OrgPostings[] {
    const all = [...this.#postings.values()];
    if (isInsistent) for (const postings of all) postings[2] *= 2;
    return all;
  }

  #postingsOf(orgId: string, { seq }: OrgFunds): OrgPostings {
    let postings = this.#postings.get(orgId);
    if (postings === undefined) {
      postings = [orgId, seq, 0];
      this.#postings.set(orgId, postings);
    }
    return postings;
  }
}

const VALUES = 4;

/**
 * @param values for each org: number of the newest entry, balance, what calls hold, what cells have leased
 * @param isSetAside what cells have leased counts as held
 */
export function readFunds(
  orgs: readonly string[],
  values: readonly number[],
  isSetAside = false,
): Map<string, OrgFunds> {
  const funds = orgs.map((orgId, at): [string, OrgFunds] => {
    const [seq = 0, balanceMicroUsd = 0, held = 0, leased = 0] = values.slice(VALUES * at, VALUES * (at + 1));
    return [orgId, { seq, balanceMicroUsd, heldMicroUsd: isSetAside ? Math.max(held, leased) : held }];
  });
  return new Map(funds);
}

/**
 * Tests whether failures are more frequent than allowed, after every single result. An ordinary test repeated a
 * thousand times raises a false alarm sooner or later; this one may be repeated for ever.
 */

/** Upper bound on the share of endpoints within their limit that are ever judged to exceed it. */
export const FALSE_ALARM_RATE = 0.01;

/** Evidence (as a logarithm) from which the limit counts as exceeded. */
export const ENOUGH_EVIDENCE = -Math.log(FALSE_ALARM_RATE);

/**
 * The alternatives: failure odds this many times those allowed. Near ones detect an endpoint that is slightly too bad,
 * after many results; far ones detect a dead one after a few.
 */
const ODDS_RATIOS = [1.5, 2, 3, 5, 10, 30, 100] as const;

export interface SequentialTest {
  /**
   * The logarithm of the evidence that the error rate is above the limit, after `failures` of `samples` results. Only the
   * counts matter, not their order, so they are all that needs to be kept.
   */
  logEvidence(failures: number, samples: number): number;
}

/**
 * The mixture likelihood ratio test of Bernoulli trials. With p₀ = `maxErrorRate`, alternatives p₁…p_K above p₀ and x
 * failures of n results, the evidence is the mean over k of the likelihood ratios
 *
 *   (p_k ÷ p₀)^x × ((1 − p_k) ÷ (1 − p₀))^(n − x)
 *
 * One more result multiplies a ratio, in the mean, by p × p_k ÷ p₀ + (1 − p) × (1 − p_k) ÷ (1 − p₀), which is 1 for a true
 * rate p = p₀ and less for p < p₀. So for every rate within the limit the evidence is a supermartingale that starts at 1,
 * and the chance that it *ever* reaches 1 ÷ α is at most α (Ville, Étude critique de la notion de collectif, 1939; Robbins,
 * Statistical methods related to the law of the iterated logarithm, 1970).
 *
 * @param maxErrorRate 0 to 1. At 0 a single failure is proof; at 1 nothing ever is.
 */
export function errorRateTest(maxErrorRate: number): SequentialTest {
  if (maxErrorRate <= 0) return { logEvidence: (failures) => (failures > 0 ? Number.POSITIVE_INFINITY : 0) };
  if (maxErrorRate >= 1) return { logEvidence: () => 0 };
  const odds = maxErrorRate / (1 - maxErrorRate);
  const ratios = ODDS_RATIOS.map((ratio) => {
    const rate = (odds * ratio) / (1 + odds * ratio);
    return {
      failure: Math.log(rate / maxErrorRate),
      // 1 − rate = 1 ÷ (1 + odds × ratio): no digits are lost where the rate is near 1.
      success: Math.log1p(odds) - Math.log1p(odds * ratio),
    };
  });
  return {
    logEvidence(failures, samples) {
      const successes = samples - failures;
      let greatest = Number.NEGATIVE_INFINITY;
      for (const r of ratios) greatest = Math.max(greatest, failures * r.failure + successes * r.success);
      // Relative to the greatest, so that thousands of results do not overflow.
      let sum = 0;
      for (const r of ratios) sum += Math.exp(failures * r.failure + successes * r.success - greatest);
      return greatest + Math.log(sum / ratios.length);
    },
  };
}

/** Halvings of a distance between two logarithms of odds: more than a double has digits. */
const HALVINGS = 60;
/** Logarithms of odds that stand for 0 and 1. */
const FAR = 30;

/**
 * The lowest error rate that the results leave possible: for each lower limit the test above would have found it exceeded.
 * So an endpoint is judged to exceed its limit exactly where this rate does, and in at most 1 of 100 trials it is ever above
 * the true rate, however often one looks. With many results it comes as near to the share that was seen as the nearest
 * alternative allows, and no nearer.
 */
export function lowestRate(failures: number, samples: number): number {
  const isProven = (logOdds: number) =>
    errorRateTest(rateOf(logOdds)).logEvidence(failures, samples) >= ENOUGH_EVIDENCE;
  // Evidence against a limit only shrinks with it.
  let [low, high] = [-FAR, FAR];
  if (!isProven(low)) return 0;
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (isProven(middle)) low = middle;
    else high = middle;
  }
  return rateOf(low);
}

/** The same from above: the lowest rate of successes, read from the other side. */
export const highestRate = (failures: number, samples: number): number =>
  1 - lowestRate(samples - failures, samples);

const rateOf = (logOdds: number): number => 1 / (1 + Math.exp(-logOdds));

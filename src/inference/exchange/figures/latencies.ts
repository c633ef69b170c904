/**
 * Durations of calls, for `/metrics`: counts in buckets, by route, class of model and outcome. A call costs three look-ups
 * and three additions. */
import type { Endpoint, Model } from "../../../base/endpoint.ts";
import { Histogram } from "../../../base/metrics/histogram.ts";
import type { CallRecord } from "../../../record/record.ts";
import type { Outcome } from "../outcome.ts";

/** The model's task, and whether it reasons before it answers: latencies differ by these. Empty: no model was found. */
export type ModelClass = Model["task"] | "reasoning" | "";

/** @param endpoint the one that answered, or was tried last */
export function modelClass(model: Model | undefined, endpoint: Endpoint | undefined): ModelClass {
  if (model === undefined) return "";
  return model.task === "generate" && endpoint?.capabilities.reasoning === true ? "reasoning" : model.task;
}

export interface LatencyLabels {
  /** The client's format. */
  readonly route: string;
  readonly modelClass: ModelClass;
  readonly outcome: Outcome["kind"];
}

/** Times of one call, milliseconds. */
type Latency = Pick<CallRecord, "durationMs" | "ttftMs" | "gwOverheadMs">;

export interface LatencySeries {
  readonly labels: LatencyLabels;
  readonly duration: Histogram;
  readonly firstToken: Histogram;
  readonly overhead: Histogram;
}

export class Latencies {
  /** Route → class → outcome. */
  readonly #byRoute = new Map<string, Map<ModelClass, Map<Outcome["kind"], LatencySeries>>>();

  /** @param waitedMs that it waited for other calls' holds: part of its record's duration, but no time of the gateway's or a model's */
  observe(labels: LatencyLabels, { durationMs, ttftMs, gwOverheadMs }: Latency, waitedMs: number): void {
    const { duration, firstToken, overhead } = this.#series(labels);
    duration.observe(Math.max(0, durationMs - waitedMs));
    if (ttftMs > 0) firstToken.observe(Math.max(0, ttftMs - waitedMs));
    overhead.observe(gwOverheadMs);
  }

  *all(): Generator<LatencySeries> {
    for (const classes of this.#byRoute.values()) {
      for (const outcomes of classes.values()) yield* outcomes.values();
    }
  }

  #series(labels: LatencyLabels): LatencySeries {
    const outcomes = this.#byRoute.get(labels.route)?.get(labels.modelClass);
    return outcomes?.get(labels.outcome) ?? this.#add(labels);
  }

  #add(labels: LatencyLabels): LatencySeries {
    const classes = this.#byRoute.get(labels.route) ?? new Map();
    this.#byRoute.set(labels.route, classes);
    const outcomes = classes.get(labels.modelClass) ?? new Map();
    classes.set(labels.modelClass, outcomes);
    const series = {
      labels,
      duration: new Histogram(),
      firstToken: new Histogram(),
      overhead: new Histogram(),
    };
    outcomes.set(labels.outcome, series);
    return series;
  }
}

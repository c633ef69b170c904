/** A hypothetical call between form, address and API; and what replays and trials say in words. */
import { describe, expect, test } from "vitest";
import {
  canaryText,
  hoursOf as reportHoursOf,
  verdicts,
} from "../../../console/pages/policies/reports/report-words.ts";
import {
  bodyOf,
  type CallValues,
  faultsOf,
  filtersOf,
  tagsOf,
  valuesOf,
} from "../../../console/pages/policies/try/dry-run-values.ts";
import {
  callsText,
  faultText,
  hoursOf,
  rangeOf,
  rangeText,
  rowName,
} from "../../../console/pages/policies/try/replay-words.ts";

const values = (change: Partial<CallValues> = {}): CallValues => ({
  ...valuesOf(new URLSearchParams()),
  model: "v/m",
  ...change,
});

describe("a hypothetical call", () => {
  test("goes through the address and back", () => {
    const call = values({
      app: "shop",
      tags: "team=search, batch",
      prompt: "1,200",
      stream: true,
      no_fallbacks: true,
    });
    const set = Object.entries(filtersOf(call)).filter(([, value]) => value !== "");
    expect(valuesOf(new URLSearchParams(set))).toEqual(call);
    expect(Object.fromEntries(set)).toEqual({
      model: "v/m",
      app: "shop",
      tags: "team=search, batch",
      prompt: "1,200",
      stream: "1",
      no_fallbacks: "1",
    });
  });

  test("is what the API takes: what is not said is left out", () => {
    expect(bodyOf(values(), undefined)).toEqual({ model: "v/m" });
    const all = values({
      project: "prj_1",
      key: " key_1 ",
      app: "shop",
      tags: "team=search,batch",
      prompt: "0",
      answer: "500",
      user: "u",
      session: "s",
      data: "zdr",
      sort: "price",
      order: "alpha, beta",
      only: "alpha",
      ignore: "gamma",
      regions: "eu us",
      attempts: "2",
      stream: true,
      tools: true,
      images: true,
      audio: true,
      schema: true,
      no_fallbacks: true,
    });
    expect(bodyOf(all, 3)).toEqual({
      model: "v/m",
      version: 3,
      project_id: "prj_1",
      key_id: "key_1",
      app: "shop",
      tags: { team: "search", batch: "" },
      est_input_tokens: 0,
      max_output_tokens: 500,
      user: "u",
      session: "s",
      stream: true,
      tools: true,
      images: true,
      audio: true,
      json_schema: true,
      data_policy: "zdr",
      route: {
        sort: "price",
        providers: { order: ["alpha", "beta"], only: ["alpha"], ignore: ["gamma"] },
        require: { regions: ["eu", "us"] },
        max_attempts: 2,
        fallbacks: false,
      },
    });
    // An address may be anything.
    expect(bodyOf(values({ sort: "luck", data: "none" }), undefined)).toEqual({ model: "v/m" });
  });

  test("is not asked for while something is wrong with it", () => {
    const wrong = values({ model: "", prompt: "many", answer: "0", attempts: "9" });
    expect(Object.keys(faultsOf(wrong)).sort()).toEqual(["answer", "attempts", "model", "prompt"]);
    expect(bodyOf(wrong, undefined)).toBeUndefined();
    expect(faultsOf(values({ prompt: "0", attempts: "8" }))).toEqual({});
  });

  test("has tags as people write them", () => {
    expect(tagsOf("")).toBeUndefined();
    expect(tagsOf(" team = search ,, batch, a=b=c ")).toEqual({ team: "search", batch: "", a: "b=c" });
  });
});

describe("a replay", () => {
  test.each([
    ["", 24, "24", "the last 24 hours"],
    ["1", 1, "1", "the last hour"],
    ["168", 168, "168", "the last 7 days"],
    ["720", 720, "720", "the last 30 days"],
    ["36", 36, "other", "the last 36 hours"],
    ["721", 24, "24", "the last 24 hours"],
    ["0", 24, "24", "the last 24 hours"],
    ["1e2", 24, "24", "the last 24 hours"],
    ["-5", 24, "24", "the last 24 hours"],
  ])("of %j hours in the address is of %i", (text, hours, range, words) => {
    expect([hoursOf(text), rangeOf(hours), rangeText(hours)]).toEqual([hours, range, words]);
  });

  test("says what a refusal means", () => {
    const fault = (status: number, code: string) => faultText({ status, code, message: "It says so." });
    expect(fault(429, "concurrency")).toMatch(/^It says so\. One is run at a time/);
    expect(fault(409, "state")).toMatch(/^It says so\. .*make a new version/);
    expect(fault(503, "analytics_unavailable")).toBe("It says so.");
    // Another limit, which has its own words.
    expect(fault(429, "rate_limited")).toBe("It says so.");
  });

  test("names rows and counts", () => {
    const row = { endpointId: "", count: 0, before: 1, after: 1 };
    expect(rowName({ ...row, kind: "endpoint", endpointId: "ep_a" })).toBe("ep_a");
    expect(rowName({ ...row, kind: "others" })).toBe("other endpoints");
    expect(rowName({ ...row, kind: "others", count: 4 })).toBe("4 other endpoints");
    expect([callsText(1, "1"), callsText(1200, "1,200")]).toEqual(["1 call", "1,200 calls"]);
  });
});

describe("a canary", () => {
  const figures = { samples: 18, failures: 1, min_samples: 200, is_active: true };
  const said = (change: object) =>
    canaryText({ ...figures, state: "warming", ...change }, (n) => String(n), "5%");

  test("that warms says what must still come", () => {
    expect(said({})).toBe("1 of 18 results failed. It is not judged before 200 are in: 182 must still come.");
  });

  test("that is green or red says why, and what follows", () => {
    expect(said({ state: "green", samples: 400 })).toMatch(/no proof of an error rate above 5%/);
    expect(said({ state: "red", samples: 400, failures: 90 })).toMatch(
      /keeps within 5% .* no share any more\.$/,
    );
    expect(said({ state: "red", samples: 400, failures: 90, is_active: false })).not.toMatch(/share/);
  });
});

describe("arms of an experiment", () => {
  const arm = (name: string, low: number, high: number) => ({ name, estimate: low, interval: { low, high } });

  test("differ from the first only where the intervals have nothing in common", () => {
    const said = verdicts(
      [arm("a", 10, 20), arm("b", 21, 30), arm("c", 15, 25), arm("d", 1, 9)],
      "is less",
      "is more",
    );
    expect(said).toEqual(["b is more than a.", "d is less than a."]);
    expect(verdicts([], "", "")).toEqual([]);
    const alone = { name: "b", estimate: 3, interval: undefined };
    expect(verdicts([arm("a", 10, 20), alone], "is less", "is more")).toEqual([]);
  });

  test("are of a range of the address", () => {
    expect(["", "24", "168", "720", "5"].map(reportHoursOf)).toEqual([24, 24, 168, 720, 24]);
  });
});

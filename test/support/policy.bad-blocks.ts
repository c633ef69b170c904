/** Policies that cannot be read for what their defaults decide: plain keys, requirements, weights and trials. */
import { type BadSample, inDefaults } from "./policy.bad-samples.ts";

const canary = (percent: unknown, rate: unknown, samples: unknown): string =>
  `canary: {endpoint: e, percent: ${percent}, max_error_rate: ${rate}, min_samples: ${samples}}`;

const arms = (...each: string[]): string => `experiment: {name: x, arms: [${each.join(", ")}]}`;
const manyArms = Array.from({ length: 17 }, (_, at) => `{arm: a${at}, endpoint: e}`);

const BLOCKS: readonly BadSample[] = [
  inDefaults(
    "a misspelt key of the defaults",
    "fallback: true",
    '3:3 /defaults/fallback: unknown key "fallback"; did you mean "fallbacks"?',
  ),
  inDefaults(
    "an order of one word",
    "order: openai",
    "3:10 /defaults/order: Invalid input: expected array, received string",
  ),
  inDefaults(
    "an order with a gap",
    'order: [openai, ""]',
    "3:19 /defaults/order/1: Too small: expected string to have >=1 characters",
  ),
  inDefaults(
    "65 to be ignored",
    `ignore: [${"a, ".repeat(64)}a]`,
    "3:11 /defaults/ignore: Too big: expected array to have <=64 items",
  ),
  inDefaults(
    "one that is both allowed and not",
    "only: [openai, groq]\n  ignore: [azure, groq]",
    '4:19 /defaults/ignore/1: "groq" stands in only, too',
  ),
  inDefaults(
    "a word for false",
    "fallbacks: no",
    "3:14 /defaults/fallbacks: Invalid input: expected boolean, received string",
  ),
  inDefaults(
    "no attempts",
    "max_attempts: 0",
    "3:17 /defaults/max_attempts: Too small: expected number to be >=1",
  ),
  inDefaults(
    "nine attempts",
    "max_attempts: 9",
    "3:17 /defaults/max_attempts: Too big: expected number to be <=8",
  ),
  inDefaults(
    "one attempt and a half",
    "max_attempts: 1.5",
    "3:17 /defaults/max_attempts: Invalid input: expected int, received number",
  ),
  inDefaults("no time", "timeout_ms: 0", "3:15 /defaults/timeout_ms: Too small: expected number to be >=1"),
  inDefaults(
    "more than a day",
    "timeout_ms: 86400001",
    "3:15 /defaults/timeout_ms: Too big: expected number to be <=86400000",
  ),
  inDefaults(
    "a time with its unit",
    "timeout_ms: 2s",
    "3:15 /defaults/timeout_ms: Invalid input: expected number, received string",
  ),
  inDefaults(
    "a hedge before the call",
    "hedge_after_ms: -1",
    "3:19 /defaults/hedge_after_ms: Too small: expected number to be >=0",
  ),
  inDefaults(
    "a hedge after ten minutes",
    "hedge_after_ms: 600001",
    "3:19 /defaults/hedge_after_ms: Too big: expected number to be <=600000",
  ),
  inDefaults(
    "a misspelt affinity",
    "affinity: sessions",
    '3:13 /defaults/affinity: Invalid option: expected one of "none"|"user"|"session"|"prompt"; did you mean "session"?',
  ),
  inDefaults(
    "a misspelt way to leave a client",
    "on_disconnect: detatch",
    '3:18 /defaults/on_disconnect: Invalid option: expected one of "cancel"|"drain"|"detach"; did you mean "detach"?',
  ),
  inDefaults(
    "a way to leave a client, lifted",
    "on_disconnect: false",
    '3:18 /defaults/on_disconnect: Invalid option: expected one of "cancel"|"drain"|"detach"',
  ),
  inDefaults(
    "the key of another setting of the same name",
    "ondisconnect: drain",
    '3:3 /defaults/ondisconnect: unknown key "ondisconnect"; did you mean "on_disconnect"?',
  ),
  inDefaults(
    "a misspelt requirement",
    "require: {no_training: true}",
    '3:13 /defaults/require/no_training: unknown key "no_training"; did you mean "no_train"?',
  ),
  inDefaults(
    "a requirement in words",
    "require: {zdr: yes}",
    "3:18 /defaults/require/zdr: Invalid input: expected boolean, received string",
  ),
  inDefaults(
    "no region",
    "require: {regions: []}",
    "3:22 /defaults/require/regions: Too small: expected array to have >=1 items",
  ),
  inDefaults(
    "a region that is no list",
    "require: {regions: eu}",
    "3:22 /defaults/require/regions: Invalid input: expected array, received string",
  ),
  inDefaults(
    "one price for all",
    "require: {max_price: 3}",
    "3:24 /defaults/require/max_price: Invalid input: expected object, received number",
  ),
  inDefaults(
    "a misspelt price",
    "require: {max_price: {inputs: 3}}",
    '3:25 /defaults/require/max_price/inputs: unknown key "inputs"; did you mean "input"?',
  ),
  inDefaults(
    "a price below nothing",
    "require: {max_price: {output: -1}}",
    "3:33 /defaults/require/max_price/output: Too small: expected number to be >=0",
  ),
  inDefaults(
    "weights as a list",
    "weights: [a, b]",
    "3:12 /defaults/weights: Invalid input: expected object, received array",
  ),
  inDefaults(
    "a weight below nothing",
    "weights: {ep/a: -1, b: 2}",
    "3:19 /defaults/weights/ep~1a: Too small: expected number to be >=0",
  ),
  inDefaults(
    "a weight without end",
    "weights: {a: .inf}",
    "3:16 /defaults/weights/a: Invalid input: expected number, received Infinity",
  ),
  inDefaults(
    "weights that are all nothing",
    "weights: {a: 0, b: 0}",
    "3:12 /defaults/weights: needs a weight above 0",
  ),
];

const TRIALS: readonly BadSample[] = [
  inDefaults(
    "a refusal without words",
    "deny: true",
    "3:9 /defaults/deny: Invalid input: expected object or false",
  ),
  inDefaults(
    "a refusal with an empty message",
    'deny: {message: ""}',
    "3:19 /defaults/deny/message: Too small: expected string to have >=1 characters",
  ),
  inDefaults(
    "a refusal of 501 letters",
    `deny: {message: ${"m".repeat(501)}}`,
    "3:19 /defaults/deny/message: Too big: expected string to have <=500 characters",
  ),
  inDefaults(
    "a misspelt message",
    "deny: {mesage: x}",
    '3:10 /defaults/deny/mesage: unknown key "mesage"; did you mean "message"?',
  ),
  inDefaults(
    "a canary that is only on",
    "canary: true",
    "3:11 /defaults/canary: Invalid input: expected object or false",
  ),
  inDefaults(
    "a canary without a judgement",
    "canary: {endpoint: e, percent: 5, min_samples: 9}",
    "3:11 /defaults/canary/max_error_rate: is missing",
  ),
  inDefaults(
    "a misspelt share",
    "canary: {endpoint: e, percnt: 5, max_error_rate: 0.1, min_samples: 9}",
    '3:25 /defaults/canary/percnt: unknown key "percnt"; did you mean "percent"?',
  ),
  inDefaults(
    "more than all calls",
    canary(101, 0.1, 10),
    "3:34 /defaults/canary/percent: Too big: expected number to be <=100",
  ),
  inDefaults(
    "a share with its sign",
    canary("10%", 0.1, 10),
    "3:34 /defaults/canary/percent: Invalid input: expected number, received string",
  ),
  inDefaults(
    "an error rate in percent",
    canary(10, 5, 10),
    "3:54 /defaults/canary/max_error_rate: Too big: expected number to be <=1",
  ),
  inDefaults(
    "a judgement of nothing",
    canary(10, 0.1, 0),
    "3:72 /defaults/canary/min_samples: Too small: expected number to be >=1",
  ),
  inDefaults(
    "a shadow that is only named",
    "shadow: ep_next",
    "3:11 /defaults/shadow: Invalid input: expected object or false",
  ),
  inDefaults(
    "a misspelt bill",
    "shadow: {endpoint: e, percent: 5, bil: org}",
    '3:37 /defaults/shadow/bil: unknown key "bil"; did you mean "bill"?',
  ),
  inDefaults(
    "a bill for nobody",
    "shadow: {endpoint: e, percent: 5, bill: orgs}",
    '3:43 /defaults/shadow/bill: Invalid option: expected one of "platform"|"org"; did you mean "org"?',
  ),
  inDefaults(
    "copies of fewer than no calls",
    "shadow: {endpoint: e, percent: -1}",
    "3:34 /defaults/shadow/percent: Too small: expected number to be >=0",
  ),
  inDefaults(
    "a misspelt name of an experiment",
    "experiment: {nam: x, arms: [{arm: a, endpoint: e}, {arm: b, endpoint: f}]}",
    '3:16 /defaults/experiment/nam: unknown key "nam"; did you mean "name"?',
  ),
  inDefaults(
    "one arm",
    arms("{arm: a, endpoint: e}"),
    "3:31 /defaults/experiment/arms: Too small: expected array to have >=2 items",
  ),
  inDefaults(
    "17 arms",
    arms(...manyArms),
    "3:31 /defaults/experiment/arms: Too big: expected array to have <=16 items",
  ),
  inDefaults(
    "a misspelt weight of an arm",
    arms("{arm: a, endpoint: e, wieght: 2}", "{arm: b, endpoint: f}"),
    '3:54 /defaults/experiment/arms/0/wieght: unknown key "wieght"; did you mean "weight"?',
  ),
  inDefaults(
    "an arm without an endpoint",
    arms("{arm: a}", "{arm: b, endpoint: f}"),
    "3:32 /defaults/experiment/arms/0/endpoint: is missing",
  ),
  inDefaults(
    "two arms of one name",
    arms("{arm: a, endpoint: e}", "{arm: a, endpoint: f}"),
    '3:61 /defaults/experiment/arms/1/arm: "a" is the name of arm 1 already',
  ),
  inDefaults(
    "arms of no weight",
    arms("{arm: a, endpoint: e, weight: 0}", "{arm: b, endpoint: f, weight: 0}"),
    "3:31 /defaults/experiment/arms: needs a weight above 0",
  ),
];

export const BAD_BLOCKS: readonly BadSample[] = [...BLOCKS, ...TRIALS];

/** Variables of the environment: what is said of a wrong one shows a right one, and never repeats the value. */
import { expect, test } from "vitest";
import { environment } from "../../../../src/host/settings/environment.ts";

test.each([
  ["PUBLIC_URL", "s3cret.example.com", "must be an http or https URL, such as https://gateway.example.com"],
  [
    "PUBLIC_URL",
    "ftp://s3cret.example.com",
    "must be an http or https URL, such as https://gateway.example.com",
  ],
  ["OIDC_ISSUER", "s3cret", "must be an http or https URL, such as https://login.example.com"],
  ["FX_URL", "s3cret", "must be an http or https URL, such as https://rates.example.com/usd"],
  ["CLICKHOUSE_URL", "s3cret", "must be a URL, such as http://clickhouse.example:8123"],
  ["SIMULATOR_URL", "s3cret", "must be a URL, such as http://127.0.0.1:9999"],
  ["HTTPS_PROXY", '"http://s3cret@proxy.example"', "has quotes around it: leave them out"],
])("%s=%s: %3$s", (name, value, message) => {
  const read = environment.safeParse({ [name]: value });
  expect(read.error?.issues.map((issue) => [issue.path[0], issue.message])).toEqual([[name, message]]);
  expect(read.error?.message).not.toContain("s3cret");
});

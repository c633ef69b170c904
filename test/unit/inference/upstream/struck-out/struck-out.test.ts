/** What a client must not see of a provider's words. */
import { describe, expect, test } from "vitest";
import { struckOut } from "../../../../../src/inference/upstream/struck-out/struck-out.ts";
import { GONE, LEFT } from "./struck-out.cases.ts";

describe("T61: is struck out", () => {
  test.each([
    ["sent Authorization: Bearer abcdefghijklmnop1234", "sent Authorization: Bearer [credential]"],
    ["got proxy-authorization: Basic YTpi from you", "got proxy-authorization: Basic [credential] from you"],
    ['{"Authorization":"Bearer abc"} is wrong', '{"Authorization":"Bearer [credential]"} is wrong'],
    ["token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln is expired", "token [credential] is expired"],
    ["hf_abcdefghijklmnopqrst has no access", "[credential] has no access"],
    ["The key AKIAIOSFODNN7EXAMPLE is unknown", "The key [credential] is unknown"],
    [
      "POST https://generativelanguage.googleapis.com/v1beta/models/m:generateContent?key=abc-123&alt=sse: 400",
      "POST https://generativelanguage.googleapis.com/v1beta/models/m:generateContent?key=[credential]&alt=sse: 400",
    ],
    [
      "cannot fetch https://bucket.s3.amazonaws.com/x.png?X-Amz-Signature=abc&X-Amz-Date=1",
      "cannot fetch https://bucket.s3.amazonaws.com/x.png?X-Amz-Signature=[credential]&X-Amz-Date=[credential]",
    ],
    ["https://user:pass@example.com/v1", "https://[credential]@example.com/v1"],
    [
      "Team: 16f2151a-40f4-4a80-8ad0-cae00c27e8dd, API key ID: 481c7584-ab46, Model: grok-4",
      "Team: [account], API key ID: [account], Model: grok-4",
    ],
    ["Your account org-0123456789abcdef <ak-f0123456789abcdef>", "Your account [account] <[credential]>"],
    ["Connection to http://10.0.0.5:8000/v1 refused", "Connection to http://[host]/v1 refused"],
    ["HTTPConnectionPool(host='192.168.1.7', port=8000)", "HTTPConnectionPool(host='[host]', port=8000)"],
    ["http://vllm-7b:8000/v1/chat is down", "http://[host]/v1/chat is down"],
    ["http://[fd00::1]:8000/v1 is down", "http://[host]/v1 is down"],
    ["dial llama.models.svc.cluster.local:80: refused", "dial [host]: refused"],
    ["localhost:11434 does not reply", "[host] does not reply"],
    ["The model `/dev/shm/glm-4-9b-chat/` does not exist.", "The model `[path]` does not exist."],
    ["Could not read /root/autodl-tmp/models/Qwen1.5, sorry", "Could not read [path], sorry"],
    ["No file C:\\Users\\james\\.omp\\logs\\1.json", "No file [path]"],
  ])("%s", (message, told) => {
    expect(struckOut(message)).toBe(told);
  });
});

describe("T61: credentials", () => {
  test.each(GONE.credentials)("%s", (message, told) => expect(struckOut(message)).toBe(told));
});

describe("O26, T61: accounts", () => {
  test.each(GONE.accounts)("%s", (message, told) => expect(struckOut(message)).toBe(told));
});

describe("hosts", () => {
  test.each(GONE.hosts)("%s", (message, told) => expect(struckOut(message)).toBe(told));
});

describe("paths", () => {
  test.each(GONE.paths)("%s", (message, told) => expect(struckOut(message)).toBe(told));
});

describe("is passed on", () => {
  test.each(LEFT)("%s", (message) => expect(struckOut(message)).toBe(message));
});

test("what was struck out stays so", () => {
  for (const [, told] of Object.values(GONE).flat()) expect(struckOut(told)).toBe(told);
});

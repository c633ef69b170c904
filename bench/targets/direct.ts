/** No gateway at all: what the load generator and the simulator make of the calls by themselves. */
import type { Target } from "./target.ts";

export const direct: Target = {
  name: "direct",
  about: "load straight to the simulator",
  peer: false,
  start: async (context) => ({ baseUrl: context.upstreamUrl, headers: {}, model: "bench", pid: undefined }),
};

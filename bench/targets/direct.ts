/** No gateway: the load generator calls the simulator directly. */
import { UPSTREAM_MODEL } from "../cases.ts";
import type { Target } from "./target.ts";

export const direct: Target = {
  name: "direct",
  about: "load straight to the simulator",
  peer: false,
  start: async (context) => ({
    baseUrl: context.upstreamUrl,
    headers: {},
    model: UPSTREAM_MODEL,
    pid: undefined,
  }),
};

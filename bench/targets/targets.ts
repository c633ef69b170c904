/** All targets, in the order of the tables. */
import { agentgateway } from "./agentgateway.ts";
import { direct } from "./direct.ts";
import { gomodel, gomodelUsage } from "./gomodel.ts";
import { litellm, litellmMessages } from "./litellm.ts";
import { nginx } from "./nginx.ts";
import { pipe } from "./pipe.ts";
import { portkey } from "./portkey.ts";
import type { Target } from "./target.ts";
import { before, translating, weir } from "./weir.ts";

export const TARGETS: readonly Target[] = [
  direct,
  pipe,
  weir,
  before,
  ...translating,
  nginx,
  portkey,
  litellm,
  litellmMessages,
  gomodel,
  gomodelUsage,
  agentgateway,
];

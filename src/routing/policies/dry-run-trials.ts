/** What of a dry run is about trials: the canary, the experiment and the shadow of such a call, and whether this one takes part. */
import { z } from "zod";
import * as field from "../../base/operation/fields.ts";
import type { CanaryState, Decision } from "../planner/decision.ts";
import type { Plan } from "../planner/planner.ts";

const percent = z.number().describe("Of 100 such calls so many, 0 to 100.");
const takesPart = z
  .boolean()
  .describe("Whether this call was drawn: another dry run may be drawn otherwise.");

export const trialsShape = z
  .object({
    canary: z
      .object({
        endpoint_id: field.endpointId,
        percent,
        state: z.enum(["warming", "green", "red"]).describe("As it is now; a red one gets no share."),
        takes_part: takesPart,
      })
      .optional()
      .describe("Absent: such a call has no canary."),
    experiment: z
      .object({
        name: z.string().describe("The experiment's name."),
        arms: z
          .array(
            z.object({
              arm: z.string().describe("The arm's name."),
              endpoint_id: field.endpointId,
              weight: z.number().describe("Its weight beside those of the other arms."),
            }),
          )
          .describe("Among which callers are divided."),
        arm: z.string().describe("The arm that this call is in; empty where it is in none."),
      })
      .optional()
      .describe("Absent: such a call is in no experiment."),
    shadow: z
      .object({
        endpoint_id: field.endpointId,
        percent,
        bill: z.enum(["platform", "org"]).describe("Who pays for the copies."),
        takes_part: takesPart,
      })
      .optional()
      .describe("Absent: such a call is not copied."),
  })
  .describe("Trials that the version has for such a call.");

/**
 * @param made what was drawn
 * @param stateOf of a canary, by its endpoint
 */
export function trialsWire(
  { canary, experiment, shadow, isChosenByRequest }: Decision,
  made: Pick<Plan, "canary" | "arm" | "shadow">,
  stateOf: (endpointId: string) => CanaryState,
): z.input<typeof trialsShape> {
  const isOpen = !isChosenByRequest;
  return {
    ...(canary !== undefined &&
      isOpen && {
        canary: {
          endpoint_id: canary.endpoint,
          percent: canary.percent,
          state: stateOf(canary.endpoint),
          takes_part: made.canary !== "",
        },
      }),
    ...(experiment !== undefined &&
      isOpen && {
        experiment: {
          name: experiment.name,
          arms: experiment.arms.map(({ arm, endpoint, weight }) => ({ arm, endpoint_id: endpoint, weight })),
          arm: made.arm,
        },
      }),
    ...(shadow !== undefined && {
      shadow: {
        endpoint_id: shadow.endpoint,
        percent: shadow.percent,
        bill: shadow.bill,
        takes_part: made.shadow !== undefined,
      },
    }),
  };
}

/** The part of `weir.yaml` that names the operator in the data processing agreement. */
import { z } from "zod";

export const dpaField = z
  .strictObject({
    legal_name: z.string().max(200).default(""),
    address: z.string().max(500).default(""),
    contact: z.string().max(254).default(""),
    governing_law: z.string().max(200).default(""),
  })
  .prefault({});

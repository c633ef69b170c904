/** The query of lists of items: those of a response, and those of a conversation. */
import { z } from "zod";

export const listQuery = z.object({
  after: z.string().optional().describe("The page after this item."),
  before: z.string().optional().describe("The page before this item; with `after`, what is between them."),
  limit: z.coerce.number().int().min(1).max(100).default(20).describe("So many items at most."),
  order: z
    .enum(["asc", "desc"])
    .default("desc")
    .describe("By their place in the conversation; the last first unless `asc`."),
});

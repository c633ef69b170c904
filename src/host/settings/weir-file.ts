/**
 * The keys of `weir.yaml` with their defaults: what an operator sets that is no secret and no address. Units are the ends of the names.
 */
import { z } from "zod";
import { playgroundField } from "../../account/keys/playground-settings.ts";
import { dpaField } from "../../account/orgs/dpa-settings.ts";
import { analyticsField } from "../../analytics/settings.ts";
import { cidrListField } from "../../base/network/cidr-list.ts";
import { quotasField } from "../../base/quota.ts";
import { paymentsField } from "../../billing/payments/settings.ts";
import { cellsField } from "../../cluster/cells/settings.ts";
import { keptFields } from "../../credits/kept/settings.ts";
import { requestLimitsField } from "../../credits/limits/request-limit-settings.ts";
import { corsField } from "../../edge/cors-settings.ts";
import {
  byokField,
  callLimitFields,
  callTimeoutFields,
  mediaFetchField,
} from "../../inference/exchange/settings.ts";

const positive = z.int().positive();

export const fileSchema = z.strictObject({
  limits: z
    .strictObject({
      max_body_bytes: positive.default(32 * 1024 * 1024),
      /** Limit for all bodies in flight together: arriving, waiting to be read, kept until their request is over. */
      max_bodies_bytes: positive.default(512 * 1024 * 1024),
      /** A body that arrives more slowly is refused with 408. */
      min_upload_bytes_per_s: positive.default(1024),
      ...callLimitFields,
      ...keptFields,
      /** Most bytes of an org's export; a larger one fails. */
      max_export_bytes: positive.default(8 * 1024 * 1024 * 1024),
    })
    .prefault({}),
  /** Limits of all routes but model calls, which have those of keys and plans. */
  request_limits: requestLimitsField,
  quotas: quotasField,
  timeouts: z
    .strictObject({
      connect_ms: positive.default(5_000),
      /** Interval between checks of an upload's pace. */
      upload_ms: positive.default(30_000),
      ...callTimeoutFields,
      shutdown_ms: positive.default(30_000),
    })
    .prefault({}),
  cells: cellsField,
  byok: byokField,
  media_fetch: mediaFetchField,
  playground: playgroundField,
  /** Origins whose pages may call the gateway. */
  cors: corsField,
  /** Addresses and CIDRs of proxies in front, whose `X-Forwarded-For` is believed. */
  trusted_proxies: cidrListField.default([]),
  /** E-mail addresses of operators, as the identity provider vouches for them. */
  operators: z.array(z.string().min(3).max(254)).max(100).default([]),
  /** Orgs that one person may own. */
  max_orgs_per_person: positive.default(5),
  /** Orgs behind a figure of the public pages; nothing of fewer is shown. Absent: 5, and 1 where nobody else reaches us. */
  min_orgs: positive.max(10_000).optional(),
  oidc: z
    .strictObject({
      /** The provider's addresses are trusted although it does not say that it verified them. */
      trust_email: z.boolean().default(false),
    })
    .prefault({}),
  /** The operator's side of the data processing agreement (`GET /v1/documents/dpa`); what is empty is left blank there. */
  dpa: dpaField,
  webhooks: z
    .strictObject({
      /** Ranges that all orgs' webhooks may reach beside public addresses. Absent: none; the first org reaches loopback where nobody else reaches us. */
      allow: z
        .array(z.union([z.cidrv4(), z.cidrv6()]))
        .max(256)
        .optional(),
    })
    .prefault({}),
  analytics: analyticsField,
  /** The payment gateway of each currency. */
  payments: paymentsField,
  grant_usd: z.number().nonnegative().default(25),
  default_plan: z.string().default("local"),
  /** Where they stood before `plans.yaml`. */
  plans: z.unknown().optional(),
});

/** The settings of `weir.yaml`; plans have a file of their own. */
export type ServiceSettings = Omit<z.output<typeof fileSchema>, "plans">;

/**
 * What the specification names, written down once more: routes with their parameters and members of bodies, and the fields of
 * records. Members of members follow a dot; lists are passed through. Compatible formats are held by their official clients' tests.
 */

const USAGE_COUNTS =
  "requests ok errors input_tokens output_tokens cache_read_tokens cache_write_tokens reasoning_tokens cost_micro";
const within = (name: string, members: string): string =>
  members
    .split(" ")
    .map((member) => `${name}.${member}`)
    .join(" ");

const ORG =
  "id slug name kind billing_country billing_currency legal_name gstin tax_status plan_id status role billing_email billing_address.line1 " +
  "billing_address.city billing_address.state_code billing_address.postal_code billing_address.country settings.security.require_2fa " +
  "settings.security.session_hours settings.security.console_ip_allow settings.security.key_default_expiry_days data_policy.logging " +
  "data_policy.retention_days data_policy.zdr data_policy.no_train data_policy.regions data_policy.redact.presets data_policy.redact.patterns " +
  "created_at closed_at erasure_requested_at erasure_due_at";
const TICKET = "id org_id kind status subject body created_by created_at";
const PROJECT =
  "id org_id slug name environment status budget.monthly_micro budget.hard spend_today_micro spend_month_micro created_at";
const KEY =
  "id project_id name hint environment scopes status limits.rpm limits.tpm limits.concurrency budget.daily_micro budget.hard created_at " +
  "last_used_at expires_at";
const PLAN =
  "id name monthly_minor currency included_micro limits.rpm limits.tpm limits.concurrency limits.keys limits.projects features description public sort";
const SUBSCRIPTION = "org_id plan_id status period_start period_end started_at";
const POLICY = "name version status created_at";
const TOPUP =
  "id org_id gateway gateway_ref payment_ref currency amount_minor tax_minor total_minor fee_minor fx_rate credits_micro method status invoice_id " +
  "source created_at paid_at";
const REFUND =
  "id org_id topup_id gateway payment_ref gateway_ref currency amount_minor tax_minor total_minor fx_rate credits_micro credit_note_id status " +
  "reason created_at settled_at";
const MANDATE =
  "id org_id gateway method mandate_ref token_ref max_amount_minor currency status auto_topup.enabled auto_topup.threshold_micro " +
  "auto_topup.amount_minor notify_hours consecutive_failures registered_at created_at cancelled_at";
const INVOICE =
  "id org_id number fy kind currency place_of_supply supplier_gstin recipient_gstin recipient.legal_name recipient.gstin recipient.country " +
  "lines.description lines.kind lines.sac lines.quantity lines.unit_minor lines.amount_minor taxable_minor cgst_minor sgst_minor igst_minor " +
  "total_minor hsn_sac irn_status irn topup_id fx_rate issued_at status credited_minor plan_id period_start period_end";
const MODEL =
  "id vendor name modalities.in modalities.out context_length max_output pricing_from.input pricing_from.output pricing_from.cache_read endpoints " +
  "status markup_bps capabilities.tools capabilities.json_schema capabilities.vision capabilities.audio capabilities.reasoning " +
  "capabilities.cache capabilities.zdr capabilities.no_train uptime_30d ttft_p50_ms requests_7d";
const ENDPOINT =
  "id provider provider_name upstream_model region status quantization context_length max_output capabilities.tools.function " +
  "capabilities.tools.parallel price.input price.output price.cache_read markup_bps data_policy.trains data_policy.retention_days " +
  "data_policy.zdr uptime_30d latency.ttft_p50_ms latency.ttft_p95_ms attempts_30d";
const REQUEST =
  "request_id ts project_id key_id model provider endpoint_id region status http_status error_code stop_reason attempts input_tokens " +
  "cache_read_tokens output_tokens usage_source cost_micro ttft_ms duration_ms stream byok zdr logged app_id user_hash";
const USAGE = "input_tokens output_tokens cache_read_tokens cache_write_tokens reasoning_tokens";
const COST = "total_micro_usd lines.kind lines.units lines.unit_price_nano lines.micro_usd price_version";
const LIMITS = "rpm tpm concurrency";
const FEES = "rail items.method items.bps items.fixed_minor items.note";
const QUOTE = `rail currency amount_minor tax_minor total_minor credits_micro fx_rate fx_day ${within("fees", FEES)} min_amount_minor display`;
const AUTO_TOPUP = `${within("mandate", MANDATE)} config.enabled config.threshold_micro config.amount_minor rail methods cap_minor notify_hours currency min_amount_minor`;
const DRY_RUN =
  "policy version decision.sort decision.affinity decision.max_attempts decision.notes plan.attempt plan.endpoint_id plan.provider plan.region " +
  "plan.est_cost_micro plan.reason trace";
const GENERATION =
  `id created model resolved.provider resolved.endpoint_id resolved.upstream_model resolved.region ${within("usage", USAGE)} ${within("cost", COST)} ` +
  "timing.ttft_ms timing.duration_ms timing.gw_overhead_ms stop.reason attempts.attempt attempts.provider attempts.outcome attempts.http_status " +
  "attempts.ttft_ms warnings";
const DETAIL =
  `${REQUEST} cell dialect_in upstream_model price_version_id upstream_ttft_ms gw_overhead_ms bytes_in bytes_out tool_calls has_images has_tools ` +
  "has_schema cache_write_tokens reasoning_tokens tags user_agent client_ip_prefix route_trace timing.ttft_ms timing.upstream_ttft_ms " +
  `timing.duration_ms timing.gw_overhead_ms usage.source ${within("usage.normalised", USAGE)} ` +
  `${within("attempt_rows", "attempt ts provider endpoint_id pool_id key_hint outcome http_status error_class ttft_ms duration_ms output_tokens")} ` +
  `payload_state request response.candidates ${within("response.usage", USAGE)} ${within("response.cost", COST)}`;
const PRICING =
  `currencies ${within("rails", FEES)} gst.rate_bps gst.supplier_state gst.rule fx.day fx.usd_inr fx.spread_bps ${within("plans", PLAN)} ` +
  "minimums_minor markup.frontier_bps markup.open_weight_min_bps markup.open_weight_max_bps markup.note supplier.legal_name supplier.state " +
  "supplier.gstin generated_at";
const STATS =
  `model ${within("series", "endpoint_id day attempts ok ttft_p50_ms ttft_p95_ms tpot_p50_ms")} ${within("apps", "app_id requests_7d tokens_7d")} ` +
  `scheduled_prices ${within("changelog", "id kind summary endpoint_id effective_at created_at")} analytics`;
const OVERVIEW =
  `${within("plan", `${LIMITS} keys projects`)} keys.key_id keys.name keys.project_id keys.status ${within("keys.configured", LIMITS)} ` +
  "keys.budget.daily_micro keys.budget.hard keys.live.rpm_remaining keys.live.tpm_remaining keys.live.concurrency_in_use keys.spend_today_micro " +
  "keys.spend_month_micro rejected_24h.rpm rejected_24h.concurrency upstream_capacity_24h live analytics";
const AGGREGATE =
  `object range.from range.to range.granularity group_by ${within("totals", USAGE_COUNTS)} ${within("series", `bucket ${USAGE_COUNTS}`)} ` +
  within("groups", `key ${USAGE_COUNTS}`);

const list = (record: string): string => `object ${within("data", record)}`;
const paged = (record: string): string => `${list(record)} next_cursor`;

export interface SpecifiedRoute {
  /** Names in the query. */
  readonly query?: string;
  /** Members of the request's body. */
  readonly body?: string;
  /** Members of the answer; absent where it is no JSON, or its fields are not specified. */
  readonly answer?: string;
}

const FILTERS =
  "since until project_id key_id model provider status errors_only fallbacks_only min_cost_micro max_cost_micro q";
const PAGE = "cursor limit";

/** By method and path, with empty braces for parameters. */
export const SPECIFIED: Readonly<Record<string, SpecifiedRoute>> = {
  "GET /v1/models": {
    query: "vendor modality capability zdr no_train new price_changed status q sort",
    answer: list(MODEL),
  },
  "GET /v1/models/{}/{}": { answer: MODEL },
  "GET /v1/models/{}/{}/stats": { answer: STATS },
  "GET /v1/models/{}/{}/endpoints": { answer: `model ${list(ENDPOINT)}` },
  "GET /v1/pricing": { answer: PRICING },
  "GET /v1/rankings": {
    query: "days category",
    answer: `days ${within("apps", "id requests tokens models")} ${within("models", "id requests tokens apps")} analytics generated_at`,
  },
  "GET /v1/providers": {
    answer: `${list("id name trains retention_days zdr regions status terms_url endpoints verified_at")} snapshot`,
  },
  "GET /v1/apps/{}/public": {
    answer: `slug name category tokens_30d requests_30d ${within("models", "id requests tokens")} ${within("trend", "day requests tokens")} analytics generated_at`,
  },
  "GET /v1/apps/{}/badge": {},

  "GET /v1/limits/requests": { answer: list(TICKET) },
  "POST /v1/limits/requests": {
    body: "key_id rpm reason",
    answer: `status ${within("applied", LIMITS)} ${within("ticket", TICKET)}`,
  },
  "GET /v1/tickets": { query: "kind", answer: list(TICKET) },
  "POST /v1/policy/redact/preview": { body: "presets sample", answer: "input output redactions presets" },
  "GET /v1/documents/dpa": {},
  "GET /v1/orgs": { answer: list(ORG) },
  "POST /v1/orgs": { body: "slug name billing_country", answer: ORG },
  "GET /v1/orgs/{}": { answer: ORG },
  "PATCH /v1/orgs/{}": { body: "legal_name gstin tax_status billing_email", answer: ORG },
  "POST /v1/orgs/{}/close": { body: "confirm refund_requested", answer: ORG },
  "POST /v1/orgs/{}/erasure": { answer: ORG },
  "DELETE /v1/orgs/{}/erasure": { answer: ORG },
  "POST /v1/orgs/{}/transfer": { body: "user_id", answer: "owner previous_owner_role" },
  "GET /v1/orgs/{}/members": { answer: list("org_id user_id role email name") },
  "POST /v1/orgs/{}/members": { body: "email role", answer: "org_id user_id role email" },
  "PATCH /v1/orgs/{}/members/{}": { body: "role", answer: "org_id user_id role" },
  "DELETE /v1/orgs/{}/members/{}": {},
  "GET /v1/projects": { answer: list(PROJECT) },
  "POST /v1/projects": { body: "slug name environment", answer: PROJECT },
  "GET /v1/projects/{}": { answer: PROJECT },
  "PATCH /v1/projects/{}": { body: "name budget.monthly_micro", answer: PROJECT },
  "DELETE /v1/projects/{}": {},
  "GET /auth/login": {},
  "GET /auth/callback": {},
  "POST /auth/logout": { answer: "logout_url" },
  "GET /auth/me": {
    answer: `user.id user.email user.name user.status ${within("orgs", ORG)} active_org role`,
  },

  "GET /v1/limits": { answer: OVERVIEW },
  "GET /v1/keys": { query: `status ${PAGE}`, answer: paged(KEY) },
  "POST /v1/keys": {
    body: `project_id name scopes ${within("limits", LIMITS)} budget.daily_micro budget.hard expires_in`,
    answer: `${KEY} secret`,
  },
  "GET /v1/keys/{}": { answer: KEY },
  "PATCH /v1/keys/{}": { body: within("limits", LIMITS), answer: KEY },
  "DELETE /v1/keys/{}": { answer: `${KEY} revoked_at` },
  "POST /v1/keys/{}/rotate": { body: "grace_seconds", answer: `${KEY} secret rotated_from` },

  "GET /v1/policies": { answer: list(POLICY) },
  "POST /v1/policies": { body: "name yaml", answer: `${POLICY} yaml` },
  "POST /v1/policies/validate": { body: "yaml", answer: "valid path message" },
  "POST /v1/policies/{}/dry-run": { body: "model est_input_tokens", answer: DRY_RUN },
  "GET /v1/policies/{}/canaries": {
    answer: list(
      "version endpoint_id state error_rate samples max_error_rate min_samples reason evaluated_at",
    ),
  },
  "GET /v1/policies/{}/shadows": {
    answer: list(
      "shadow_endpoint primary_endpoint policy_version runs errors stop_mismatch primary_cost_micro shadow_cost_micro cost_delta_micro " +
        "primary_ttft_ms shadow_ttft_ms bill",
    ),
  },
  "GET /v1/policies/{}/experiments": {
    query: "hours",
    answer: `hours ${list("arm experiment requests errors cost_micro ttft_p50_ms ttft_p95_ms output_tokens")}`,
  },
  "GET /v1/policies/{}/versions": { answer: list(POLICY) },
  "POST /v1/policies/{}/versions": { body: "yaml", answer: `${POLICY} yaml` },
  "POST /v1/policies/{}/activate": { body: "version scope.project_id", answer: POLICY },

  "POST /v1/svc/generate": {
    body: "model messages generation.max_tokens generation.temperature route.sort route.fallbacks metadata.app metadata.user_id",
  },
  "POST /v1/svc/count_tokens": { body: "model messages" },
  "POST /v1/svc/dry_run": { body: "model messages" },
  "POST /v1/svc/embed": { body: "model input input_type" },
  "POST /v1/svc/rerank": { body: "model query documents top_n return_documents" },
  "POST /v1/chat/completions": { body: "model messages stream svc" },
  "POST /v1/embeddings": { body: "model input dimensions" },
  "POST /v1/completions": { body: "model prompt" },
  "POST /v1/responses": { body: "model input" },
  "POST /v1/messages": { body: "model max_tokens messages" },
  "POST /v1/messages/count_tokens": { body: "model messages" },

  "GET /v1/generation/{}": { answer: GENERATION },
  "GET /v1/requests": { query: `${FILTERS} ${PAGE}`, answer: paged(REQUEST) },
  "GET /v1/requests/tail": { query: "after interval_ms" },
  "GET /v1/requests/{}": { answer: DETAIL },
  "GET /v1/usage": {
    query: "range from to granularity group_by tag compare project_id key_id model provider",
    answer: AGGREGATE,
  },

  "GET /v1/credits": {
    answer:
      "available_micro_usd held_micro_usd granted_micro_usd display.currency display.amount currency fx_rate",
  },
  "GET /v1/credits/ledger": {
    query: `${PAGE} kind format`,
    answer: paged("seq kind amount_micro_usd request_id ref_type ref_id created_at"),
  },
  "GET /v1/credits/topups/quote": { query: "amount_minor", answer: QUOTE },
  "GET /v1/credits/topups": { query: PAGE, answer: paged(TOPUP) },
  "POST /v1/credits/topups": {
    body: "amount_minor",
    answer: `${within("topup", TOPUP)} checkout_url ${within("quote", QUOTE)}`,
  },
  "GET /v1/credits/topups/{}": { answer: TOPUP },
  "POST /v1/credits/topups/{}/refund": {
    body: "amount_minor reason idempotency_key",
    answer: within("refund", `${REFUND} replay`),
  },
  "GET /v1/credits/refunds": { query: PAGE, answer: `${within("data", REFUND)} next_cursor` },
  "GET /v1/credits/refunds/{}": { answer: within("refund", REFUND) },
  "GET /v1/credits/auto-topup": { answer: AUTO_TOPUP },
  "PUT /v1/credits/auto-topup": { body: "enabled threshold_micro amount_minor", answer: AUTO_TOPUP },
  "POST /v1/credits/mandates": {
    body: "method",
    answer: `${within("mandate", `${MANDATE} hosted_url`)} url`,
  },
  "DELETE /v1/credits/mandates": { answer: within("mandate", MANDATE) },
  "GET /v1/plans": { answer: within("data", PLAN) },
  "GET /v1/billing/subscription": {
    answer: `${within("subscription", SUBSCRIPTION)} ${within("plan", PLAN)}`,
  },
  "POST /v1/billing/subscription": {
    body: "plan_id",
    answer: `${within("subscription", SUBSCRIPTION)} ${within("plan", PLAN)} ${within("invoice", "id number")} fee_micro included_micro prorated_bps effective`,
  },
  "GET /v1/invoices": { query: PAGE, answer: paged(INVOICE) },
  "GET /v1/invoices/{}": { answer: INVOICE },
  "GET /v1/invoices/{}/pdf": {},
  "GET /v1/invoices/{}/html": {},
  "POST /v1/invoices/{}/resend": { body: "to", answer: "queued to" },
  "POST /v1/invoices/{}/correction": { body: "gstin reason", answer: `status ${within("ticket", TICKET)}` },
  "GET /v1/webhooks/{}/deliveries": {},
  "GET /v1/org/scim/log": {},
};

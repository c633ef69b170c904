/**
 * The functions that a statement of an analyst may name. They compute from their arguments: none reads a file, a dictionary or a
 * table that its text names, reaches the network, waits, or tells of the machine or of other sessions. A function that a later
 * engine brings is not here, and so is refused until someone has read what it does.
 * Source of names and meanings: `system.functions`, https://clickhouse.com/docs/sql-reference/functions
 */

const names = (text: string): string[] => text.trim().split(/\s+/);

/** Numbers, conditions, comparison, bits, random values. */
const NUMBERS = names(`
  abs acos acosh and asin asinh assumeNotNull atan atan2 atanh avg2 bitAnd bitCount bitHammingDistance
  bitmapAnd bitmapAndCardinality bitmapAndnot bitmapAndnotCardinality bitmapBuild bitmapCardinality
  bitmapContains bitmapHasAll bitmapHasAny bitmapMax bitmapMin bitmapOr bitmapOrCardinality
  bitmapSubsetInRange bitmapSubsetLimit bitmapToArray bitmapTransform bitmapXor bitmapXorCardinality bitNot
  bitOr bitRotateLeft bitRotateRight bitShiftLeft bitShiftRight bitSlice bitTest bitTestAll bitTestAny
  bitXor byteSwap cbrt ceil clamp coalesce cos cosh cosineDistance degrees divide divideDecimal divideOrNull
  e equals erf erfc exp exp10 exp2 factorial financialInternalRateOfReturn
  financialInternalRateOfReturnExtended financialNetPresentValue financialNetPresentValueExtended
  firstNonDefault floor gcd globalIn globalNotIn globalNotNullIn globalNullIn greater greaterOrEquals
  greatest hypot if ifNotFinite ifNull in intDiv intDivOrNull intDivOrZero intExp10 intExp2 isDistinctFrom
  isFinite isInfinite isNaN isNotDistinctFrom isNotNull isNull isNullable isPrime isProbablePrime
  isZeroOrNull L1Distance L1Norm L1Normalize L2Distance L2Norm L2Normalize L2SquaredDistance L2SquaredNorm
  lcm least less lessOrEquals lgamma LinfDistance LinfNorm LinfNormalize log log10 log1p log2 LpDistance
  LpNorm LpNormalize max2 midpoint min2 minus modulo moduloOrNull moduloOrZero multiIf multiply
  multiplyDecimal negate not notEquals notIn notNullIn nullIf nullIn or pi plus positiveModulo
  positiveModuloOrNull pow proportionsZTest radians rand rand64 randBernoulli randBinomial randCanonical
  randChiSquared randConstant randExponential randFisherF randLogNormal randNegativeBinomial randNormal
  randomFixedString randomPrintableASCII randomString randomStringUTF8 randPoisson randStudentT randUniform
  round roundAge roundBankers roundDown roundDuration roundToExp2 sigmoid sign sin sinh sqr sqrt subBitmap
  tan tanh tgamma toNullable trunc widthBucket xor
`);

/** Texts, encodings, hashes, addresses. */
const TEXTS = names(`
  alphaTokens appendTrailingCharIfAbsent arrayStringConcat ascii base32Decode base32Encode base58Decode
  base58Encode base64Decode base64Encode base64URLDecode base64URLEncode basename bin bitmaskToArray
  bitmaskToList bitPositionsToArray byteHammingDistance caseFoldUTF8 char cityHash64 compareSubstrings
  concat concatAssumeInjective concatWithSeparator concatWithSeparatorAssumeInjective conv convertCharset
  countMatches countMatchesCaseInsensitive countSubstrings countSubstringsCaseInsensitive
  countSubstringsCaseInsensitiveUTF8 CRC32 CRC32IEEE CRC64 cutFragment cutIPv6 cutQueryString
  cutQueryStringAndFragment cutToFirstSignificantSubdomain cutToFirstSignificantSubdomainCustom
  cutToFirstSignificantSubdomainCustomRFC cutToFirstSignificantSubdomainCustomWithWWW
  cutToFirstSignificantSubdomainCustomWithWWWRFC cutToFirstSignificantSubdomainRFC
  cutToFirstSignificantSubdomainWithWWW cutToFirstSignificantSubdomainWithWWWRFC cutURLParameter cutWWW
  damerauLevenshteinDistance dateTime64ToSnowflakeID dateTimeToSnowflakeID dateTimeToUUIDv7
  decodeHTMLComponent decodeURLComponent decodeURLFormComponent decodeXMLComponent domain domainRFC
  domainWithoutWWW domainWithoutWWWRFC editDistance editDistanceUTF8 encodeURLComponent
  encodeURLFormComponent encodeXMLComponent endsWith endsWithCaseInsensitive endsWithCaseInsensitiveUTF8
  endsWithUTF8 extract extractAll extractAllGroupsHorizontal extractAllGroupsVertical extractGroups
  extractTextFromHTML extractURLParameter extractURLParameterNames extractURLParameters farmFingerprint64
  farmHash64 firstLine firstSignificantSubdomain firstSignificantSubdomainCustom
  firstSignificantSubdomainCustomRFC firstSignificantSubdomainRFC format fragment gccMurmurHash
  generateUUIDv4 generateUUIDv7 halfMD5 hasAllTokens hasAnyTokens hasPhrase hasSubsequence
  hasSubsequenceCaseInsensitive hasSubsequenceCaseInsensitiveUTF8 hasSubsequenceUTF8 hasToken
  hasTokenCaseInsensitive hasTokenCaseInsensitiveOrNull hasTokenOrNull hex hilbertDecode hilbertEncode
  hiveHash ilike initcap initcapUTF8 intHash32 intHash64 IPv4CIDRToRange IPv4NumToString
  IPv4NumToStringClassC IPv4StringToNum IPv4StringToNumOrDefault IPv4StringToNumOrNull IPv4ToIPv6
  IPv6CIDRToRange IPv6NumToString IPv6StringToNum IPv6StringToNumOrDefault IPv6StringToNumOrNull
  isIPAddressInRange isIPv4String isIPv6String isValidASCII isValidUTF8 jaroSimilarity jaroWinklerSimilarity
  javaHash javaHashUTF16LE jumpConsistentHash kafkaMurmurHash keccak256 kostikConsistentHash left leftPad
  leftPadUTF8 leftUTF8 lengthUTF8 like locate lower lowerUTF8 match MD4 MD5 metroHash64 mortonDecode
  mortonEncode multiMatchAllIndices multiMatchAny multiMatchAnyIndex multiSearchAllPositions
  multiSearchAllPositionsCaseInsensitive multiSearchAllPositionsCaseInsensitiveUTF8
  multiSearchAllPositionsUTF8 multiSearchAny multiSearchAnyCaseInsensitive multiSearchAnyCaseInsensitiveUTF8
  multiSearchAnyUTF8 multiSearchFirstIndex multiSearchFirstIndexCaseInsensitive
  multiSearchFirstIndexCaseInsensitiveUTF8 multiSearchFirstIndexUTF8 multiSearchFirstPosition
  multiSearchFirstPositionCaseInsensitive multiSearchFirstPositionCaseInsensitiveUTF8
  multiSearchFirstPositionUTF8 murmurHash2_32 murmurHash2_64 murmurHash3_128 murmurHash3_32 murmurHash3_64
  naturalSortKey netloc ngramDistance ngramDistanceCaseInsensitive ngramDistanceCaseInsensitiveUTF8
  ngramDistanceUTF8 ngramMinHash ngramMinHashArg ngramMinHashArgCaseInsensitive
  ngramMinHashArgCaseInsensitiveUTF8 ngramMinHashArgUTF8 ngramMinHashCaseInsensitive
  ngramMinHashCaseInsensitiveUTF8 ngramMinHashUTF8 ngrams ngramSearch ngramSearchCaseInsensitive
  ngramSearchCaseInsensitiveUTF8 ngramSearchUTF8 ngramSimHash ngramSimHashCaseInsensitive
  ngramSimHashCaseInsensitiveUTF8 ngramSimHashUTF8 normalizeUTF8NFC normalizeUTF8NFD normalizeUTF8NFKC
  normalizeUTF8NFKCCasefold normalizeUTF8NFKD notILike notLike overlay overlayUTF8 path pathFull port
  portRFC position positionCaseInsensitive positionCaseInsensitiveUTF8 positionUTF8 printf protocol
  queryString queryStringAndFragment regexpExtract regexpPosition regexpQuoteMeta removeDiacriticsUTF8
  repeat replaceAll replaceOne replaceRegexpAll replaceRegexpOne reverseBySeparator reverseUTF8 right
  rightPad rightPadUTF8 rightUTF8 RIPEMD160 SHA1 SHA224 SHA256 SHA384 SHA512 SHA512_256 sipHash128
  sipHash128Keyed sipHash128Reference sipHash128ReferenceKeyed sipHash64 sipHash64Keyed
  snowflakeIDToDateTime snowflakeIDToDateTime64 soundex space sparseGrams sparseGramsHashes
  sparseGramsHashesUTF8 sparseGramsUTF8 splitByChar splitByNonAlpha splitByRegexp splitByString
  splitByWhitespace sqidDecode sqidEncode startsWith startsWithCaseInsensitive startsWithCaseInsensitiveUTF8
  startsWithUTF8 stringBytesEntropy stringBytesUniq stringJaccardIndex stringJaccardIndexUTF8 substring
  substringIndex substringIndexUTF8 substringUTF8 toIPv4 toIPv4OrDefault toIPv4OrNull toIPv4OrZero toIPv6
  toIPv6OrDefault toIPv6OrNull toIPv6OrZero tokens topLevelDomain topLevelDomainRFC toUUIDOrDefault
  toUUIDOrNull toValidUTF8 translate translateUTF8 trimBoth trimLeft trimRight tryBase32Decode
  tryBase58Decode tryBase64Decode tryBase64URLDecode unbin unhex upper upperUTF8 URLHash URLHierarchy
  URLPathHierarchy UUIDNumToString UUIDStringToNum UUIDToNum UUIDv7ToDateTime wordShingleMinHash
  wordShingleMinHashArg wordShingleMinHashArgCaseInsensitive wordShingleMinHashArgCaseInsensitiveUTF8
  wordShingleMinHashArgUTF8 wordShingleMinHashCaseInsensitive wordShingleMinHashCaseInsensitiveUTF8
  wordShingleMinHashUTF8 wordShingleSimHash wordShingleSimHashCaseInsensitive
  wordShingleSimHashCaseInsensitiveUTF8 wordShingleSimHashUTF8 wyHash64 xxh3 xxh3_128 xxHash32 xxHash64
  xxHash64Spark
`);

/** JSON, arrays, maps, tuples. */
const NESTED = names(`
  array arrayAll arrayAUCPR arrayAvg arrayBottomK arrayCompact arrayConcat arrayCount arrayCumSum
  arrayCumSumNonNegative arrayDifference arrayDistinct arrayDotProduct arrayElement arrayElementOrNull
  arrayEnumerate arrayEnumerateDense arrayEnumerateDenseRanked arrayEnumerateUniq arrayEnumerateUniqRanked
  arrayExcept arrayExists arrayFill arrayFilter arrayFirst arrayFirstIndex arrayFirstOrNull arrayFlatten
  arrayFold arrayIntersect arrayJaccardIndex arrayJoin arrayLast arrayLastIndex arrayLastOrNull
  arrayLevenshteinDistance arrayLevenshteinDistanceWeighted arrayMap arrayMax arrayMin arrayNormalizedGini
  arrayPartialReverseSort arrayPartialShuffle arrayPartialSort arrayPopBack arrayPopFront arrayProduct
  arrayPushBack arrayPushFront arrayRandomSample arrayReduce arrayReduceInRanges arrayRemove arrayResize
  arrayReverse arrayReverseFill arrayReverseSort arrayReverseSplit arrayROCAUC arrayRotateLeft
  arrayRotateRight arrayShiftLeft arrayShiftRight arrayShingles arrayShuffle arraySimilarity arraySlice
  arraySort arraySplit arraySum arraySymmetricDifference arrayTopK arrayTranspose arrayUnion arrayUniq
  arrayWithConstant arrayZip arrayZipUnaligned countEqual dotProduct dynamicElement dynamicType empty
  emptyArrayDate emptyArrayDateTime emptyArrayFloat32 emptyArrayFloat64 emptyArrayInt16 emptyArrayInt32
  emptyArrayInt64 emptyArrayInt8 emptyArrayString emptyArrayUInt16 emptyArrayUInt32 emptyArrayUInt64
  emptyArrayUInt8 extractKeyValuePairs extractKeyValuePairsWithEscaping flattenTuple has hasAll hasAny
  hasSubstr indexOf indexOfAssumeSorted isDynamicElementInSharedData isValidJSON JSON_EXISTS JSON_QUERY
  JSON_VALUE JSONAllPaths JSONAllPathsWithTypes JSONAllValues JSONArrayLength JSONDynamicPaths
  JSONDynamicPathsWithTypes JSONExtract JSONExtractArrayRaw JSONExtractArrayRawCaseInsensitive
  JSONExtractBool JSONExtractBoolCaseInsensitive JSONExtractCaseInsensitive JSONExtractFloat
  JSONExtractFloatCaseInsensitive JSONExtractInt JSONExtractIntCaseInsensitive JSONExtractKeys
  JSONExtractKeysAndValues JSONExtractKeysAndValuesCaseInsensitive JSONExtractKeysAndValuesRaw
  JSONExtractKeysAndValuesRawCaseInsensitive JSONExtractKeysCaseInsensitive JSONExtractRaw
  JSONExtractRawCaseInsensitive JSONExtractString JSONExtractStringCaseInsensitive JSONExtractUInt
  JSONExtractUIntCaseInsensitive JSONHas JSONKey JSONLength JSONMergePatch JSONSharedDataPaths
  JSONSharedDataPathsWithTypes JSONType length map mapAdd mapAll mapApply mapConcat mapContainsKey
  mapContainsKeyLike mapContainsValue mapContainsValueLike mapExists mapExtractKeyLike mapExtractValueLike
  mapFilter mapFromArrays mapKeys mapPartialReverseSort mapPartialSort mapPopulateSeries mapReverseSort
  mapSort mapSubtract mapUpdate mapValues notEmpty prettyPrintJSON range reverse simpleJSONExtractBool
  simpleJSONExtractFloat simpleJSONExtractInt simpleJSONExtractRaw simpleJSONExtractString
  simpleJSONExtractUInt simpleJSONHas toJSONString tuple tupleConcat tupleDivide tupleDivideByNumber
  tupleElement tupleHammingDistance tupleIntDiv tupleIntDivByNumber tupleIntDivOrZero
  tupleIntDivOrZeroByNumber tupleMinus tupleModulo tupleModuloByNumber tupleMultiply tupleMultiplyByNumber
  tupleNames tupleNegate tuplePlus tuplePositiveModuloByNumber tupleToNameValuePairs
`);

const TIMES = names(`
  addDate addDays addHours addInterval addMicroseconds addMilliseconds addMinutes addMonths addNanoseconds
  addQuarters addSeconds addTupleOfIntervals addWeeks addYears age changeDay changeHour changeMinute
  changeMonth changeSecond changeYear dateDiff dateName dateTrunc formatDateTime formatDateTimeInJodaSyntax
  fromDaysSinceYearZero fromDaysSinceYearZero32 fromModifiedJulianDay fromModifiedJulianDayOrNull
  fromUnixTimestamp fromUnixTimestampInJodaSyntax fromUTCTimestamp hop hopEnd hopStart localtime makeDate
  makeDate32 makeDateTime makeDateTime64 monthName now now64 nowInBlock nowInBlock64 serverTimezone subDate
  subtractDays subtractHours subtractInterval subtractMicroseconds subtractMilliseconds subtractMinutes
  subtractMonths subtractNanoseconds subtractQuarters subtractSeconds subtractTupleOfIntervals subtractWeeks
  subtractYears timeDiff timeSlot timeSlots timestamp timezone timezoneOf timezoneOffset today toDayOfMonth
  toDayOfWeek toDayOfYear toDaysInMonth toDaysSinceYearZero toHour toISOWeek toISOYear toLastDayOfMonth
  toLastDayOfWeek toMicrosecond toMillisecond toMinute toModifiedJulianDay toModifiedJulianDayOrNull
  toMonday toMonth toMonthNumSinceEpoch toNanosecond toQuarter toRelativeDayNum toRelativeHourNum
  toRelativeMinuteNum toRelativeMonthNum toRelativeQuarterNum toRelativeSecondNum toRelativeWeekNum
  toRelativeYearNum toSecond toStartOfDay toStartOfFifteenMinutes toStartOfFiveMinutes toStartOfHour
  toStartOfInterval toStartOfISOYear toStartOfMicrosecond toStartOfMillisecond toStartOfMinute
  toStartOfMonth toStartOfNanosecond toStartOfQuarter toStartOfSecond toStartOfTenMinutes toStartOfWeek
  toStartOfYear toTimeWithFixedDate toTimezone toUnixTimestamp toUTCTimestamp toWeek toYear
  toYearNumSinceEpoch toYearWeek toYYYYMM toYYYYMMDD toYYYYMMDDhhmmss tumble tumbleEnd tumbleStart
  UTCTimestamp windowID yesterday YYYYMMDDhhmmssToDateTime YYYYMMDDhhmmssToDateTime64 YYYYMMDDToDate
  YYYYMMDDToDate32
`);

/** The type that some of them name is checked by `TYPE_ARGUMENT`. */
const CONVERSIONS = names(`
  accurateCast accurateCastOrDefault accurateCastOrNull CAST fromUnixTimestamp64Micro
  fromUnixTimestamp64Milli fromUnixTimestamp64Nano fromUnixTimestamp64Second parseDateTime
  parseDateTime32BestEffort parseDateTime32BestEffortOrNull parseDateTime32BestEffortOrZero parseDateTime64
  parseDateTime64BestEffort parseDateTime64BestEffortOrNull parseDateTime64BestEffortOrZero
  parseDateTime64BestEffortUS parseDateTime64BestEffortUSOrNull parseDateTime64BestEffortUSOrZero
  parseDateTime64InJodaSyntax parseDateTime64InJodaSyntaxOrNull parseDateTime64InJodaSyntaxOrZero
  parseDateTime64OrNull parseDateTime64OrZero parseDateTimeBestEffort parseDateTimeBestEffortOrNull
  parseDateTimeBestEffortOrZero parseDateTimeBestEffortUS parseDateTimeBestEffortUSOrNull
  parseDateTimeBestEffortUSOrZero parseDateTimeInJodaSyntax parseDateTimeInJodaSyntaxOrNull
  parseDateTimeInJodaSyntaxOrZero parseDateTimeOrNull parseDateTimeOrZero reinterpret reinterpretAsDate
  reinterpretAsDateTime reinterpretAsFixedString reinterpretAsFloat32 reinterpretAsFloat64
  reinterpretAsInt128 reinterpretAsInt16 reinterpretAsInt256 reinterpretAsInt32 reinterpretAsInt64
  reinterpretAsInt8 reinterpretAsString reinterpretAsUInt128 reinterpretAsUInt16 reinterpretAsUInt256
  reinterpretAsUInt32 reinterpretAsUInt64 reinterpretAsUInt8 reinterpretAsUUID toBFloat16 toBFloat16OrNull
  toBFloat16OrZero toBool toDate toDate32 toDate32OrDefault toDate32OrNull toDate32OrZero toDateOrDefault
  toDateOrNull toDateOrZero toDateTime toDateTime32 toDateTime64 toDateTime64OrDefault toDateTime64OrNull
  toDateTime64OrZero toDateTimeOrDefault toDateTimeOrNull toDateTimeOrZero toDecimal128
  toDecimal128OrDefault toDecimal128OrNull toDecimal128OrZero toDecimal256 toDecimal256OrDefault
  toDecimal256OrNull toDecimal256OrZero toDecimal32 toDecimal32OrDefault toDecimal32OrNull toDecimal32OrZero
  toDecimal64 toDecimal64OrDefault toDecimal64OrNull toDecimal64OrZero toDecimalString toFixedString
  toFloat32 toFloat32OrDefault toFloat32OrNull toFloat32OrZero toFloat64 toFloat64OrDefault toFloat64OrNull
  toFloat64OrZero toInt128 toInt128OrDefault toInt128OrNull toInt128OrZero toInt16 toInt16OrDefault
  toInt16OrNull toInt16OrZero toInt256 toInt256OrDefault toInt256OrNull toInt256OrZero toInt32
  toInt32OrDefault toInt32OrNull toInt32OrZero toInt64 toInt64OrDefault toInt64OrNull toInt64OrZero toInt8
  toInt8OrDefault toInt8OrNull toInt8OrZero toInterval toIntervalDay toIntervalHour toIntervalMicrosecond
  toIntervalMillisecond toIntervalMinute toIntervalMonth toIntervalNanosecond toIntervalQuarter
  toIntervalSecond toIntervalWeek toIntervalYear toLowCardinality toString toStringCutToZero toTime toTime64
  toTime64OrNull toTime64OrZero toTimeOrNull toTimeOrZero toUInt128 toUInt128OrDefault toUInt128OrNull
  toUInt128OrZero toUInt16 toUInt16OrDefault toUInt16OrNull toUInt16OrZero toUInt256 toUInt256OrDefault
  toUInt256OrNull toUInt256OrZero toUInt32 toUInt32OrDefault toUInt32OrNull toUInt32OrZero toUInt64
  toUInt64OrDefault toUInt64OrNull toUInt64OrZero toUInt8 toUInt8OrDefault toUInt8OrNull toUInt8OrZero
  toUnixTimestamp64Micro toUnixTimestamp64Milli toUnixTimestamp64Nano toUnixTimestamp64Second toUUID
  toUUIDOrZero
`);

/** The engine's version, the session's own settings, and what belongs to no other group. `exists`, `grouping` and `untuple` are in no list of the engine's. */
const OTHERS = names(`
  _CAST assumeNotNull bar byteSize caseWithExpression connectionId countDigits currentDatabase
  currentSchemas currentUser DATE defaultValueOfArgumentType errorCodeToName exists finalizeAggregation
  firstNonDefault formatReadableDecimalSize formatReadableQuantity formatReadableSize
  formatReadableTimeDelta getSetting getSettingOrDefault getSizeOfEnumType globalVariable grouping identity
  ignore indexHint isConstant isDecimalOverflow lowCardinalityIndices lowCardinalityKeys MACNumToString
  MACStringToNum MACStringToOUI materialize minSampleSizeContinuous minSampleSizeConversion neighbor
  parseReadableSize parseReadableSizeOrNull parseReadableSizeOrZero parseTimeDelta queryID
  rowNumberInAllBlocks rowNumberInBlock runningAccumulate runningConcurrency runningDifference
  runningDifferenceStartingWithFirstValue throwIf toColumnTypeName toNullable toTypeName transform untuple
  uptime variantElement variantType version visibleWidth
`);

/** Other names of the functions above. */
const ALIASES = names(`
  array_remove array_to_string arrayAUC arrayPRAUC byteSlice CARDINALITY caseWithExpr caseWithoutExpr
  caseWithoutExpression ceiling CHAR_LENGTH CHARACTER_LENGTH concat_ws curdate current_database current_date
  current_schemas current_timestamp current_user DATABASE date_bin DATE_DIFF date_diff DATE_FORMAT
  DATE_TRUNC DAY DAYOFMONTH DAYOFWEEK DAYOFYEAR distanceCosine distanceL1 distanceL2 distanceL2Squared
  distanceLinf distanceLp extractAllGroups flatten FORMAT_BYTES FROM_BASE64 FROM_DAYS FROM_UNIXTIME
  from_utc_timestamp hasAllToken hasAnyToken HOUR INET6_ATON INET6_NTOA INET_ATON INET_NTOA instr isASCII
  JSON_ARRAY_LENGTH jsonMergePatch LAST_DAY lcase levenshteinDistance levenshteinDistanceUTF8 ln
  localtimestamp lpad ltrim MAP_FROM_ARRAYS mapContains mapFromString matchPhrase MICROSECOND mid
  MILLISECOND minSampleSizeContinous MINUTE mismatches mod modOrNull MONTH NANOSECOND NATURAL_SORT_KEY
  normalizeL1 normalizeL2 normalizeLinf normalizeLp normL1 normL2 normL2Squared normLinf normLp OCTET_LENGTH
  pmod pmodOrNull positive_modulo positive_modulo_or_null power QUARTER query_id rand32 REGEXP_EXTRACT
  regexp_instr REGEXP_MATCHES REGEXP_REPLACE REGEXP_SUBSTR regexpInstr removeAccentsUTF8 replace rpad rtrim
  scalarProduct SCHEMA SECOND serverTimeZone session_user splitByAlpha sqid str_to_date str_to_map substr
  SUBSTRING_INDEX time_bucket TIMESTAMP_DIFF timestamp_diff timestampDiff timeZone timeZoneOf timeZoneOffset
  TO_BASE64 TO_DAYS TO_UNIXTIME to_utc_timestamp toStartOfFiveMinute toTimeZone trim truncate ucase unnest
  user UTC_timestamp vectorDifference vectorSum visitParamExtractBool visitParamExtractFloat
  visitParamExtractInt visitParamExtractRaw visitParamExtractString visitParamExtractUInt visitParamHas week
  width_bucket yandexConsistentHash YEAR yearweek
`);

const AGGREGATES = names(`
  analysisOfVariance anova any any_respect_nulls any_value any_value_respect_nulls anyHeavy anyLast
  anyLast_respect_nulls anyLastRespectNulls anyRespectNulls anyValueRespectNulls approx_top_count
  approx_top_k approx_top_sum argAndMax argAndMin argMax argMin array_agg array_concat_agg avg avgWeighted
  BIT_AND BIT_OR BIT_XOR boundingRatio categoricalInformationValue contingency corr corrMatrix corrStable
  count COVAR_POP COVAR_SAMP covarPop covarPopMatrix covarPopStable covarSamp covarSampMatrix
  covarSampStable cramersV cramersVBiasCorrected cume_dist deltaSum deltaSumTimestamp dense_rank denseRank
  distinctDynamicTypes distinctJSONPaths distinctJSONPathsAndTypes entropy exponentialMovingAverage
  exponentialTimeDecayedAvg exponentialTimeDecayedCount exponentialTimeDecayedMax exponentialTimeDecayedSum
  first_value first_value_respect_nulls firstValueRespectNulls group_concat groupArray groupArrayInsertAt
  groupArrayIntersect groupArrayLast groupArrayMovingAvg groupArrayMovingSum groupArraySample
  groupArraySorted groupBitAnd groupBitmap groupBitmapAnd groupBitmapOr groupBitmapXor groupBitOr
  groupBitXor groupConcat groupUniqArray histogram intervalLengthSum kolmogorovSmirnovTest kurtPop kurtSamp
  lag lagInFrame largestTriangleThreeBuckets last_value last_value_respect_nulls lastValueRespectNulls lead
  leadInFrame lttb mannWhitneyUTest max max_by maxIntersections maxIntersectionsPosition maxMappedArrays
  meanZTest median medianBFloat16 medianBFloat16Weighted medianDD medianDeterministic medianExact
  medianExactHigh medianExactLow medianExactWeighted medianExactWeightedInterpolated medianGK
  medianInterpolatedWeighted medianTDigest medianTDigestWeighted medianTiming medianTimingWeighted min
  min_by minMappedArrays nonNegativeDerivative nth_value ntile percent_rank percentRank quantile
  quantileBFloat16 quantileBFloat16Weighted quantileDD quantileDeterministic quantileExact
  quantileExactExclusive quantileExactHigh quantileExactInclusive quantileExactLow quantileExactWeighted
  quantileExactWeightedInterpolated quantileGK quantileInterpolatedWeighted quantilePrometheusHistogram
  quantiles quantilesBFloat16 quantilesBFloat16Weighted quantilesDD quantilesDeterministic quantilesExact
  quantilesExactExclusive quantilesExactHigh quantilesExactInclusive quantilesExactLow
  quantilesExactWeighted quantilesExactWeightedInterpolated quantilesGK quantilesInterpolatedWeighted
  quantilesPrometheusHistogram quantilesTDigest quantilesTDigestWeighted quantilesTiming
  quantilesTimingWeighted quantileTDigest quantileTDigestWeighted quantileTiming quantileTimingWeighted rank
  rankCorr retention row_number sequenceCount sequenceMatch sequenceMatchEvents sequenceNextNode
  simpleLinearRegression singleValueOrNull skewPop skewSamp sparkBar sparkbar STD STDDEV STDDEV_POP
  STDDEV_SAMP stddevPop stddevPopStable stddevSamp stddevSampStable string_agg studentTTest
  studentTTestOneSample sum sumCount sumKahan sumMapFiltered sumMapFilteredWithOverflow sumMappedArrays
  sumMapWithOverflow sumWithOverflow theilsU topK topKWeighted uniq uniqCombined uniqCombined64 uniqExact
  uniqHLL12 uniqUpTo VAR_POP VAR_SAMP varPop varPopStable varSamp varSampStable welchTTest windowFunnel
`);

/** https://clickhouse.com/docs/sql-reference/aggregate-functions/combinators */
const COMBINATORS = names(`
  If Array Map Tuple State Merge SimpleState ForEach Distinct OrDefault OrNull Resample ArgMin ArgMax Null
`);

// Some functions are found in any case. No two functions whose names differ in case only do different things.
const lowered = (list: readonly string[]) => new Set(list.map((name) => name.toLowerCase()));
const ORDINARY = lowered([...NUMBERS, ...TEXTS, ...NESTED, ...TIMES, ...CONVERSIONS, ...OTHERS, ...ALIASES]);
const AGGREGATE = lowered(AGGREGATES);

export function isFunction(name: string): boolean {
  return ORDINARY.has(name.toLowerCase()) || isAggregate(name);
}

/** Whether it is an aggregate or window function, with any combinators. */
export function isAggregate(name: string): boolean {
  if (AGGREGATE.has(name.toLowerCase())) return true;
  return COMBINATORS.some(
    (end) => name.length > end.length && name.endsWith(end) && isAggregate(name.slice(0, -end.length)),
  );
}

/** Functions of which one argument is the text of a type, which the engine parses: its place, from the end if below 0. */
export const TYPE_ARGUMENT: ReadonlyMap<string, number> = new Map([
  ...["cast", "_cast", "accuratecast", "accuratecastornull", "accuratecastordefault"].map(
    (name) => [name, 1] as const,
  ),
  ...["reinterpret", "dynamicelement", "variantelement"].map((name) => [name, 1] as const),
  ...["jsonextract", "jsonextractcaseinsensitive"].map((name) => [name, -1] as const),
  ...["jsonextractkeysandvalues", "jsonextractkeysandvaluescaseinsensitive"].map(
    (name) => [name, -1] as const,
  ),
]);

/** Functions whose first argument is the text of an aggregate function, whose parameters the engine evaluates. */
export const NAMES_AGGREGATE: ReadonlySet<string> = new Set(["arrayreduce", "arrayreduceinranges"]);

/** Functions whose second argument may name a table. */
export const TAKES_TABLE: ReadonlySet<string> = lowered(
  names("in notIn nullIn notNullIn globalIn globalNotIn globalNullIn globalNotNullIn"),
);

/** Table functions that compute their rows from whole numbers. */
export const ROW_SOURCES: ReadonlySet<string> = lowered(
  names("numbers numbers_mt zeros zeros_mt generateSeries generate_series"),
);

/** Table functions whose arguments are rows, unless the first one is a text: it would be a structure, with expressions. */
export const OF_ROWS: ReadonlySet<string> = lowered(["values", "SQLStandardValues"]);

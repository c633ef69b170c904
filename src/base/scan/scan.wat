;; Looks at text sixteen bytes at a time. `scan.ts` says what for. `node scripts/wasm.ts` makes scan.wasm of it.
;; Memory: a text of at most 65536 bytes from 16 on, pairs of characters from 81920 on, the number of marks at 131064, flags at 131068,
;; positions (i32) from 131072 on. Before the text are zeros, and what comes behind it is overwritten with zeros. Shapes of texts from 393216
;; on, and from 651264 on where the leaves of one begin (i32). Masks have a bit a byte, the first byte's lowest.
;; The class of a byte is looked up by its lower and its upper half, and is what both have in common (Langdale and Lemire, Parsing
;; Gigabytes of JSON per Second, 3.1.2, arXiv:1902.08318).
(module
  (memory (export "memory") 10)

  ;; Positions of braces, brackets and commas outside of strings, and of the quotes around strings.
  ;; Flags: 1 a backslash, 2 a control character in a string, 4 the text ends in a string, 8 a backslash outside of strings, which JSON has
  ;; nowhere: here it escapes a quote behind it, 16 a byte beyond ASCII.
  ;; Classes: 0x80 quote, 0x40 backslash, 0x20 brackets and braces, 0x10 comma, 0x08 control characters.
  ;; How escaped quotes and the insides of strings are found: the same paper, 3.1.1.
  (func (export "signs") (param $length i32) (result i32)
    (local $at i32) (local $out i32) (local $flags i32)
    (local $v v128) (local $class v128) (local $lower v128) (local $upper v128) (local $half v128) (local $zero v128)
    (local $quote v128) (local $slash v128) (local $space v128) (local $next v128) (local $all v128)
    (local $quotes i32) (local $slashes i32) (local $inside i32) (local $found i32)
    ;; One bit: the next byte is escaped. All bits: it is inside of a string.
    (local $isEscaped i32) (local $isInside i32)
    (local $behind i32) (local $sum i32)
    (local.set $lower (v128.const i8x16 0x08 0x08 0x88 0x08 0x08 0x08 0x08 0x08 0x08 0x08 0x08 0x28 0x58 0x28 0x08 0x08))
    (local.set $upper (v128.const i8x16 0x08 0x08 0x90 0x00 0x00 0x60 0x00 0x20 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00))
    (local.set $half (i8x16.splat (i32.const 0x0f)))
    (local.set $quote (i8x16.splat (i32.const 0x22)))
    (local.set $slash (i8x16.splat (i32.const 0x5c)))
    (local.set $space (i8x16.splat (i32.const 0x20)))
    (local.set $out (i32.const 131072))
    (v128.store offset=16 (local.get $length) (local.get $zero))
    (v128.store offset=32 (local.get $length) (local.get $zero))
    (block $done
      (loop $blocks
        (br_if $done (i32.ge_u (local.get $at) (local.get $length)))
        ;; Most text is inside of strings, where three things matter. The end of the text is one of them.
        (if (i32.and (local.get $isInside) (i32.eqz (local.get $isEscaped)))
          (then
            (block $found
              (loop $skip
                (local.set $v (v128.load offset=16 (local.get $at)))
                (local.set $next (v128.load offset=32 (local.get $at)))
                (local.set $all (v128.or (local.get $all) (v128.or (local.get $v) (local.get $next))))
                (br_if $found
                  (v128.any_true
                    (v128.or
                      (v128.or
                        (v128.or (i8x16.eq (local.get $v) (local.get $quote)) (i8x16.eq (local.get $next) (local.get $quote)))
                        (v128.or (i8x16.eq (local.get $v) (local.get $slash)) (i8x16.eq (local.get $next) (local.get $slash))))
                      (i8x16.lt_u (i8x16.min_u (local.get $v) (local.get $next)) (local.get $space)))))
                (local.set $at (i32.add (local.get $at) (i32.const 32)))
                (br $skip)))))
        (local.set $v (v128.load offset=16 (local.get $at)))
        (local.set $all (v128.or (local.get $all) (local.get $v)))
        (local.set $class
          (v128.and
            (i8x16.swizzle (local.get $lower) (v128.and (local.get $v) (local.get $half)))
            (i8x16.swizzle (local.get $upper) (v128.and (i16x8.shr_u (local.get $v) (i32.const 4)) (local.get $half)))))
        (local.set $quotes (i8x16.bitmask (local.get $class)))
        (local.set $slashes (i8x16.bitmask (i16x8.shl (local.get $class) (i32.const 1))))
        (if (i32.or (local.get $slashes) (local.get $isEscaped))
          (then
            (local.set $flags (i32.or (local.get $flags) (i32.const 1)))
            (local.set $slashes (i32.and (local.get $slashes) (i32.xor (local.get $isEscaped) (i32.const -1))))
            (local.set $behind (i32.or (i32.shl (local.get $slashes) (i32.const 1)) (local.get $isEscaped)))
            ;; Runs of backslashes that begin at an odd place, added to all: a bit behind each run, and what comes out is carried on.
            (local.set $sum
              (i32.add
                (local.get $slashes)
                (i32.and
                  (i32.and (local.get $slashes) (i32.const 0xaaaa))
                  (i32.xor (local.get $behind) (i32.const -1)))))
            ;; The bytes that are escaped.
            (local.set $sum
              (i32.and
                (i32.xor (i32.const 0x15555) (i32.shl (local.get $sum) (i32.const 1)))
                (local.get $behind)))
            (local.set $isEscaped (i32.and (i32.shr_u (local.get $sum) (i32.const 16)) (i32.const 1)))
            (local.set $quotes (i32.and (local.get $quotes) (i32.xor (local.get $sum) (i32.const -1))))))
        ;; Set from each opening quote to the byte before the closing one.
        (local.set $inside (local.get $isInside))
        (if (local.get $quotes)
          (then
            (local.set $inside (i32.xor (local.get $quotes) (i32.shl (local.get $quotes) (i32.const 1))))
            (local.set $inside (i32.xor (local.get $inside) (i32.shl (local.get $inside) (i32.const 2))))
            (local.set $inside (i32.xor (local.get $inside) (i32.shl (local.get $inside) (i32.const 4))))
            (local.set $inside (i32.xor (local.get $inside) (i32.shl (local.get $inside) (i32.const 8))))
            (local.set $inside (i32.xor (local.get $inside) (local.get $isInside)))
            (local.set $isInside
              (i32.sub (i32.const 0) (i32.and (i32.shr_u (local.get $inside) (i32.const 15)) (i32.const 1))))))
        (if (i32.and (local.get $slashes) (i32.xor (local.get $inside) (i32.const -1)))
          (then (local.set $flags (i32.or (local.get $flags) (i32.const 8)))))
        (if (i32.and (local.get $inside) (i8x16.bitmask (i16x8.shl (local.get $class) (i32.const 4))))
          (then (local.set $flags (i32.or (local.get $flags) (i32.const 2)))))
        (local.set $found
          (i32.or
            (local.get $quotes)
            (i32.and
              (i32.xor (local.get $inside) (i32.const -1))
              (i8x16.bitmask
                (v128.or
                  (i16x8.shl (local.get $class) (i32.const 2))
                  (i16x8.shl (local.get $class) (i32.const 3)))))))
        (block $none
          (loop $bits
            (br_if $none (i32.eqz (local.get $found)))
            (i32.store (local.get $out) (i32.add (local.get $at) (i32.ctz (local.get $found))))
            (local.set $out (i32.add (local.get $out) (i32.const 4)))
            (local.set $found (i32.and (local.get $found) (i32.sub (local.get $found) (i32.const 1))))
            (br $bits)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $blocks)))
    (if (local.get $isInside) (then (local.set $flags (i32.or (local.get $flags) (i32.const 4)))))
    (if (i8x16.bitmask (local.get $all)) (then (local.set $flags (i32.or (local.get $flags) (i32.const 16)))))
    (i32.store (i32.const 131068) (local.get $flags))
    (i32.shr_u (i32.sub (local.get $out) (i32.const 131072)) (i32.const 2)))

  ;; How many bytes of a text are the inside of a JSON string: those before its first control character, or before an escape that is none or
  ;; that the end of the text cuts. Escaped bytes are found as in signs.
  ;; Classes of what may be escaped: 0x01 quote and slash, 0x02 backslash, 0x04 b f n, 0x08 r t u.
  (func (export "string") (param $length i32) (result i32)
    (local $at i32)
    (local $v v128) (local $next v128) (local $class v128) (local $lower v128) (local $upper v128) (local $half v128)
    (local $slash v128) (local $space v128) (local $zero v128) (local $hex v128)
    (local $slashes i32) (local $isEscaped i32) (local $behind i32) (local $sum i32) (local $units i32) (local $wrong i32)
    (local.set $lower (v128.const i8x16 0 0 0x0d 0 0x08 0x08 0x04 0 0 0 0 0 0x02 0 0x04 0x01))
    (local.set $upper (v128.const i8x16 0 0 0x01 0 0 0x02 0x04 0x08 0 0 0 0 0 0 0 0))
    (local.set $half (i8x16.splat (i32.const 0x0f)))
    (local.set $slash (i8x16.splat (i32.const 0x5c)))
    (local.set $space (i8x16.splat (i32.const 0x20)))
    (v128.store offset=16 (local.get $length) (local.get $zero))
    (v128.store offset=32 (local.get $length) (local.get $zero))
    (loop $blocks
      ;; The zeros behind the text are control characters.
      (if (i32.eqz (local.get $isEscaped))
        (then
          (block $found
            (loop $skip
              (local.set $v (v128.load offset=16 (local.get $at)))
              (local.set $next (v128.load offset=32 (local.get $at)))
              (br_if $found
                (v128.any_true
                  (v128.or
                    (v128.or (i8x16.eq (local.get $v) (local.get $slash)) (i8x16.eq (local.get $next) (local.get $slash)))
                    (i8x16.lt_u (i8x16.min_u (local.get $v) (local.get $next)) (local.get $space)))))
              (local.set $at (i32.add (local.get $at) (i32.const 32)))
              (br $skip)))))
      (local.set $v (v128.load offset=16 (local.get $at)))
      ;; A bit behind each byte that is wrong, and one at each that is wrongly escaped: its backslash is before it.
      (local.set $wrong (i32.shl (i8x16.bitmask (i8x16.lt_u (local.get $v) (local.get $space))) (i32.const 1)))
      (local.set $slashes (i8x16.bitmask (i8x16.eq (local.get $v) (local.get $slash))))
      (if (i32.or (local.get $slashes) (local.get $isEscaped))
        (then
          (local.set $slashes (i32.and (local.get $slashes) (i32.xor (local.get $isEscaped) (i32.const -1))))
          (local.set $behind (i32.or (i32.shl (local.get $slashes) (i32.const 1)) (local.get $isEscaped)))
          (local.set $sum
            (i32.add
              (local.get $slashes)
              (i32.and
                (i32.and (local.get $slashes) (i32.const 0xaaaa))
                (i32.xor (local.get $behind) (i32.const -1)))))
          (local.set $sum
            (i32.and (i32.xor (i32.const 0x15555) (i32.shl (local.get $sum) (i32.const 1))) (local.get $behind)))
          (local.set $isEscaped (i32.and (i32.shr_u (local.get $sum) (i32.const 16)) (i32.const 1)))
          (local.set $sum (i32.and (local.get $sum) (i32.const 0xffff)))
          (local.set $class
            (v128.and
              (i8x16.swizzle (local.get $lower) (v128.and (local.get $v) (local.get $half)))
              (i8x16.swizzle (local.get $upper) (v128.and (i16x8.shr_u (local.get $v) (i32.const 4)) (local.get $half)))))
          (local.set $wrong
            (i32.or
              (local.get $wrong)
              (i32.and (local.get $sum) (i8x16.bitmask (i8x16.eq (local.get $class) (local.get $zero))))))
          (local.set $units
            (i32.and (local.get $sum) (i8x16.bitmask (i8x16.eq (local.get $v) (i8x16.splat (i32.const 0x75))))))
          (block $none
            (loop $digits
              (br_if $none (i32.eqz (local.get $units)))
              (local.set $hex (v128.load32_zero offset=17 (i32.add (local.get $at) (i32.ctz (local.get $units)))))
              (if (i32.ne
                    (i32.and
                      (i8x16.bitmask
                        (v128.or
                          (i8x16.lt_u
                            (i8x16.sub (local.get $hex) (i8x16.splat (i32.const 0x30)))
                            (i8x16.splat (i32.const 10)))
                          (i8x16.lt_u
                            (i8x16.sub (v128.or (local.get $hex) (local.get $space)) (i8x16.splat (i32.const 0x61)))
                            (i8x16.splat (i32.const 6)))))
                      (i32.const 15))
                    (i32.const 15))
                (then
                  (local.set $wrong (i32.or (local.get $wrong) (i32.shl (i32.const 1) (i32.ctz (local.get $units)))))))
              (local.set $units
                (i32.and (local.get $units) (i32.sub (local.get $units) (i32.const 1))))
              (br $digits)))))
      (if (local.get $wrong)
        (then (return (i32.sub (i32.add (local.get $at) (i32.ctz (local.get $wrong))) (i32.const 1)))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br $blocks))
    (unreachable))

  ;; The mask of digits, spaces and hyphens of sixteen bytes.
  (func $numeric (param $address i32) (result i64)
    (local $v v128)
    (local.set $v (v128.load (local.get $address)))
    (i64.extend_i32_u
      (i8x16.bitmask
        (v128.or
          (i8x16.lt_u (i8x16.sub (local.get $v) (i8x16.splat (i32.const 0x30))) (i8x16.splat (i32.const 10)))
          (v128.or
            (i8x16.eq (local.get $v) (i8x16.splat (i32.const 0x20)))
            (i8x16.eq (local.get $v) (i8x16.splat (i32.const 0x2d))))))))

  ;; Positions of those of - _ A B J P S that stand in a pair of characters as the table of pairs says: by the lower seven bits of both, 1 the
  ;; two before a hyphen, 2 before an underscore, 4 a mark and the one before it, 8 a mark and the one behind it.
  ;; Flags: 1 a byte beyond ASCII, 2 a backslash, 4 twelve of digits, spaces and hyphens in a row, 8 an at sign.
  ;; Classes: 0x80 hyphen, 0x40 A B J, 0x20 _ P S, 0x10 digits, 0x08 space and hyphen, 0x04 at sign, 0x02 backslash, 0x01 beyond ASCII.
  (func (export "marks") (param $length i32) (result i32)
    (local $at i32) (local $out i32) (local $flags i32)
    (local $v v128) (local $class v128) (local $lower v128) (local $upper v128) (local $half v128) (local $all v128)
    (local $other v128) (local $number v128) (local $zero v128) (local $mark v128)
    (local $found i32) (local $count i32) (local $place i32) (local $char i32) (local $pair i32)
    ;; Masks of digits, spaces and hyphens in 48 bytes.
    (local $run i64) (local $two i64) (local $four i64)
    (local.set $lower (v128.const i8x16 0x3d 0x51 0x51 0x31 0x11 0x11 0x11 0x11 0x11 0x11 0x41 0x01 0x03 0x89 0x01 0x21))
    (local.set $upper (v128.const i8x16 0x00 0x00 0x88 0x10 0x44 0x22 0x00 0x00 0x01 0x01 0x01 0x01 0x01 0x01 0x01 0x01))
    (local.set $half (i8x16.splat (i32.const 0x0f)))
    (local.set $number (i8x16.splat (i32.const 0x18)))
    (local.set $mark (i8x16.splat (i32.const 0x1f)))
    (local.set $out (i32.const 131072))
    (v128.store offset=16 (local.get $length) (local.get $zero))
    (v128.store offset=32 (local.get $length) (local.get $zero))
    (block $done
      (loop $blocks
        (br_if $done (i32.ge_u (local.get $at) (local.get $length)))
        (local.set $v (v128.load offset=16 (local.get $at)))
        (local.set $class
          (v128.and
            (i8x16.swizzle (local.get $lower) (v128.and (local.get $v) (local.get $half)))
            (i8x16.swizzle (local.get $upper) (v128.and (i16x8.shr_u (local.get $v) (i32.const 4)) (local.get $half)))))
        (local.set $all (v128.or (local.get $all) (local.get $class)))
        ;; Zero where a byte is a digit, a space or a hyphen. Twelve in a row hold four whose offset is a multiple of four.
        (local.set $other (i8x16.eq (v128.and (local.get $class) (local.get $number)) (local.get $zero)))
        (if (v128.any_true (i32x4.eq (local.get $other) (local.get $zero)))
          (then
            (local.set $run
              (i64.or
                (call $numeric (local.get $at))
                (i64.or
                  (i64.shl (call $numeric (i32.add (local.get $at) (i32.const 16))) (i64.const 16))
                  (i64.shl (call $numeric (i32.add (local.get $at) (i32.const 32))) (i64.const 32)))))
            ;; A bit where two, four, eight and twelve follow each other.
            (local.set $two (i64.and (local.get $run) (i64.shr_u (local.get $run) (i64.const 1))))
            (local.set $four (i64.and (local.get $two) (i64.shr_u (local.get $two) (i64.const 2))))
            (if (i64.ne
                  (i64.and
                    (i64.and (local.get $four) (i64.shr_u (local.get $four) (i64.const 4)))
                    (i64.shr_u (local.get $four) (i64.const 8)))
                  (i64.const 0))
              (then (local.set $flags (i32.const 4))))))
        (local.set $found (i8x16.bitmask (i8x16.gt_u (local.get $class) (local.get $mark))))
        (block $none
          (loop $bits
            (br_if $none (i32.eqz (local.get $found)))
            (local.set $count (i32.add (local.get $count) (i32.const 1)))
            (local.set $place (i32.add (local.get $at) (i32.ctz (local.get $found))))
            (local.set $char (i32.load8_u offset=16 (local.get $place)))
            (if (i32.or
                  (i32.or
                    (i32.and
                      (i32.load8_u offset=81920
                        (i32.or
                          (i32.shl
                            (i32.and (local.tee $pair (i32.load16_u offset=14 (local.get $place))) (i32.const 0x7f))
                            (i32.const 7))
                          (i32.shr_u (i32.and (local.get $pair) (i32.const 0x7f00)) (i32.const 8))))
                      (i32.or
                        (i32.eq (local.get $char) (i32.const 0x2d))
                        (i32.shl (i32.eq (local.get $char) (i32.const 0x5f)) (i32.const 1))))
                    (i32.and (i32.load8_u offset=81920
                        (i32.or
                          (i32.shl
                            (i32.and (local.tee $pair (i32.load16_u offset=15 (local.get $place))) (i32.const 0x7f))
                            (i32.const 7))
                          (i32.shr_u (i32.and (local.get $pair) (i32.const 0x7f00)) (i32.const 8)))) (i32.const 4)))
                  (i32.and (i32.load8_u offset=81920
                        (i32.or
                          (i32.shl
                            (i32.and (local.tee $pair (i32.load16_u offset=16 (local.get $place))) (i32.const 0x7f))
                            (i32.const 7))
                          (i32.shr_u (i32.and (local.get $pair) (i32.const 0x7f00)) (i32.const 8)))) (i32.const 8)))
              (then
                (i32.store (local.get $out) (local.get $place))
                (local.set $out (i32.add (local.get $out) (i32.const 4)))))
            (local.set $found (i32.and (local.get $found) (i32.sub (local.get $found) (i32.const 1))))
            (br $bits)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $blocks)))
    (i32.store (i32.const 131064) (local.get $count))
    (if (v128.any_true (v128.and (local.get $all) (i8x16.splat (i32.const 0x01))))
      (then (local.set $flags (i32.or (local.get $flags) (i32.const 1)))))
    (if (v128.any_true (v128.and (local.get $all) (i8x16.splat (i32.const 0x02))))
      (then (local.set $flags (i32.or (local.get $flags) (i32.const 2)))))
    (if (v128.any_true (v128.and (local.get $all) (i8x16.splat (i32.const 0x04))))
      (then (local.set $flags (i32.or (local.get $flags) (i32.const 8)))))
    (i32.store (i32.const 131068) (local.get $flags))
    (i32.shr_u (i32.sub (local.get $out) (i32.const 131072)) (i32.const 2)))

  ;; Whether the text that was looked at last for signs has a shape: runs of bytes, each before a leaf, and one at its end. A run is its length,
  ;; the index of the sign that ends its leaf, the bytes between both, whether the leaf is a string (i32 each), and its bytes, padded to sixteen.
  (func (export "fits") (param $run i32) (param $leaves i32) (param $length i32) (result i32)
    (local $at i32) (local $from i32) (local $to i32) (local $rest i32) (local $sign i32) (local $out i32)
    (local.set $out (i32.const 651264))
    (block $other
      (loop $runs
        (local.set $rest (i32.load (local.get $run)))
        (local.set $from (i32.add (local.get $at) (local.get $rest)))
        (if (local.get $leaves)
          (then
            (local.set $sign (i32.shl (i32.load offset=4 (local.get $run)) (i32.const 2)))
            (local.set $to (i32.sub (i32.load offset=131072 (local.get $sign)) (i32.load offset=8 (local.get $run))))
            (br_if $other (i32.lt_s (local.get $to) (local.get $from)))
            ;; No other sign is in a string.
            (if (i32.load offset=12 (local.get $run))
              (then
                (br_if $other
                  (i32.ne (i32.load offset=131068 (local.get $sign)) (i32.sub (local.get $from) (i32.const 1)))))))
          (else (br_if $other (i32.ne (local.get $from) (local.get $length)))))
        (local.set $run (i32.add (local.get $run) (i32.const 16)))
        (block $end
          (loop $blocks
            (br_if $end (i32.lt_s (local.get $rest) (i32.const 16)))
            (br_if $other
              (v128.any_true (v128.xor (v128.load offset=16 (local.get $at)) (v128.load (local.get $run)))))
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (local.set $run (i32.add (local.get $run) (i32.const 16)))
            (local.set $rest (i32.sub (local.get $rest) (i32.const 16)))
            (br $blocks)))
        (if (local.get $rest)
          (then
            (br_if $other
              (i32.shl
                (i8x16.bitmask (i8x16.ne (v128.load offset=16 (local.get $at)) (v128.load (local.get $run))))
                (i32.sub (i32.const 32) (local.get $rest))))
            (local.set $run (i32.add (local.get $run) (i32.const 16)))))
        (if (i32.eqz (local.get $leaves)) (then (return (i32.const 1))))
        (i32.store (local.get $out) (local.get $from))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $at (local.get $to))
        (local.set $leaves (i32.sub (local.get $leaves) (i32.const 1)))
        (br $runs)))
    (i32.const 0)))

;; Finds events of a stream that are alike but for one text, and writes them as they are passed on. `runs.ts` says what for.
;; `node scripts/wasm.ts` makes runs.wasm of it.
;; Memory: results at 4080; reads from 4096 on; texts from 139264 on; what goes out from 205824 on, up to 393216; from there on what is around
;; the texts of events, stream by stream, and one that is too long for that from 0 on. Behind each are more than 16 bytes that are not its own.
(module
  (memory (export "memory") 22 22)

  (func $isSame (param $one i32) (param $other i32) (param $length i32) (result i32)
    (local $last i32)
    (if (i32.lt_u (local.get $length) (i32.const 16))
      (then
        (loop $bytes
          (if (i32.eqz (local.get $length)) (then (return (i32.const 1))))
          (local.set $length (i32.sub (local.get $length) (i32.const 1)))
          (br_if $bytes (i32.eq
            (i32.load8_u (i32.add (local.get $one) (local.get $length)))
            (i32.load8_u (i32.add (local.get $other) (local.get $length))))))
        (return (i32.const 0))))
    (local.set $last (i32.sub (i32.add (local.get $one) (local.get $length)) (i32.const 16)))
    (loop $next
      (if (i32.ge_u (local.get $one) (local.get $last))
        (then
          ;; The last sixteen, of which some may have been looked at.
          (return (i8x16.all_true (i8x16.eq
            (v128.load (local.get $last))
            (v128.load (i32.sub (local.get $other) (i32.sub (local.get $one) (local.get $last)))))))))
      (if (i32.eqz (i8x16.all_true (i8x16.eq (v128.load (local.get $one)) (v128.load (local.get $other)))))
        (then (return (i32.const 0))))
      (local.set $one (i32.add (local.get $one) (i32.const 16)))
      (local.set $other (i32.add (local.get $other) (i32.const 16)))
      (br $next))
    (unreachable))

  ;; Copies sixteen bytes at a time, and so up to fifteen too many.
  (func $copy (param $to i32) (param $from i32) (param $length i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $from) (local.get $length)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $from) (local.get $end)))
        (v128.store (local.get $to) (v128.load (local.get $from)))
        (local.set $to (i32.add (local.get $to) (i32.const 16)))
        (local.set $from (i32.add (local.get $from) (i32.const 16)))
        (br $next))))

  ;; Events from $at up to $to. At $around are the end of an event and the beginning of the next one, as they come; at $aroundOut the same as
  ;; they go out. What goes out is written from $out on, and never behind $most.
  ;; Returns their number. Results: the index behind them, the end of what goes out, the end of the texts, whether the last look found the
  ;; beginning of an event.
  (func (export "pass") (param $at i32) (param $to i32) (param $tail i32) (param $head i32)
    (param $tailOut i32) (param $headOut i32) (param $out i32) (param $most i32) (param $around i32) (param $aroundOut i32)
    (result i32)
    (local $events i32) (local $begins i32) (local $from i32) (local $close i32) (local $texts i32) (local $length i32) (local $byte i32)
    (local.set $texts (i32.const 139264))
    (block $done
      (loop $next
        (local.set $begins (i32.const 0))
        (local.set $from (i32.add (local.get $at) (local.get $head)))
        (br_if $done (i32.gt_u (local.get $from) (local.get $to)))
        (br_if $done (i32.eqz (call $isSame
          (local.get $at) (i32.add (local.get $around) (local.get $tail)) (local.get $head))))
        (local.set $begins (i32.const 1))
        ;; The text ends at a quote. One with an escape is left to the caller, as is one that cannot be.
        (local.set $close (local.get $from))
        (block $closed
          (loop $bytes
            (br_if $done (i32.ge_u (local.get $close) (local.get $to)))
            (local.set $byte (i32.load8_u (local.get $close)))
            (br_if $closed (i32.eq (local.get $byte) (i32.const 34)))
            (br_if $done (i32.or (i32.lt_u (local.get $byte) (i32.const 32)) (i32.eq (local.get $byte) (i32.const 92))))
            (local.set $close (i32.add (local.get $close) (i32.const 1)))
            (br $bytes)))
        (local.set $length (i32.sub (local.get $close) (local.get $from)))
        (br_if $done (i32.eqz (local.get $length)))
        (br_if $done (i32.gt_u (i32.add (local.get $close) (local.get $tail)) (local.get $to)))
        (br_if $done (i32.eqz (call $isSame (local.get $close) (local.get $around) (local.get $tail))))
        ;; Room for the end of one, this one and its end, and for what is copied too many.
        (br_if $done (i32.gt_u
          (i32.add
            (i32.add (local.get $out) (i32.shl (local.get $tailOut) (i32.const 1)))
            (i32.add (i32.add (local.get $headOut) (local.get $length)) (i32.const 64)))
          (local.get $most)))
        (if (local.get $events)
          (then
            (call $copy (local.get $out) (local.get $aroundOut) (i32.add (local.get $tailOut) (local.get $headOut)))
            (local.set $out (i32.add (local.get $out) (i32.add (local.get $tailOut) (local.get $headOut)))))
          (else
            (call $copy (local.get $out) (i32.add (local.get $aroundOut) (local.get $tailOut)) (local.get $headOut))
            (local.set $out (i32.add (local.get $out) (local.get $headOut)))))
        (call $copy (local.get $out) (local.get $from) (local.get $length))
        (local.set $out (i32.add (local.get $out) (local.get $length)))
        (call $copy (local.get $texts) (local.get $from) (local.get $length))
        (local.set $texts (i32.add (local.get $texts) (local.get $length)))
        (local.set $events (i32.add (local.get $events) (i32.const 1)))
        (local.set $at (i32.add (local.get $close) (local.get $tail)))
        (br $next)))
    (if (local.get $events)
      (then
        (call $copy (local.get $out) (local.get $aroundOut) (local.get $tailOut))
        (local.set $out (i32.add (local.get $out) (local.get $tailOut)))))
    (i32.store (i32.const 4080) (local.get $at))
    (i32.store (i32.const 4084) (local.get $out))
    (i32.store (i32.const 4088) (local.get $texts))
    (i32.store (i32.const 4092) (local.get $begins))
    (local.get $events)))

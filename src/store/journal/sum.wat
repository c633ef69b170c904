;; The sum of a frame of the journal. `sum.ts` says what for. `node scripts/wasm.ts` makes sum.wasm of it.
;; Memory: a part of a frame of at most 65536 bytes from 0 on; what stands behind it is overwritten with zeros.
;; It is XXH32 (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md) with sixteen accumulators in place of four: a multiplication takes
;; longer than what four have to do meanwhile. The last block is filled up with zeros.
(module
  (memory (export "memory") 2)
  (global $a (mut v128) (v128.const i32x4 0 0 0 0))
  (global $b (mut v128) (v128.const i32x4 0 0 0 0))
  (global $c (mut v128) (v128.const i32x4 0 0 0 0))
  (global $d (mut v128) (v128.const i32x4 0 0 0 0))

  (func (export "begin") (param $seed i32)
    (local $v v128) (local $step v128)
    (local.set $step (i32x4.splat (i32.const 0x27d4eb2f)))
    (local.set $v
      (i32x4.add (i32x4.splat (local.get $seed)) (v128.const i32x4 0x24234428 0x85ebca77 0x00000000 0x61c8864f)))
    (global.set $a (local.get $v))
    (local.set $v (i32x4.add (local.get $v) (local.get $step)))
    (global.set $b (local.get $v))
    (local.set $v (i32x4.add (local.get $v) (local.get $step)))
    (global.set $c (local.get $v))
    (local.set $v (i32x4.add (local.get $v) (local.get $step)))
    (global.set $d (local.get $v)))

  ;; A part of the frame. All but the last are a multiple of 64 bytes long.
  (func (export "add") (param $length i32)
    (local $at i32) (local $zero v128) (local $input v128) (local $turn v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (v128.store (local.get $length) (local.get $zero))
    (v128.store offset=16 (local.get $length) (local.get $zero))
    (v128.store offset=32 (local.get $length) (local.get $zero))
    (v128.store offset=48 (local.get $length) (local.get $zero))
    (local.set $input (i32x4.splat (i32.const 0x85ebca77)))
    (local.set $turn (i32x4.splat (i32.const 0x9e3779b1)))
    (local.set $a (global.get $a))
    (local.set $b (global.get $b))
    (local.set $c (global.get $c))
    (local.set $d (global.get $d))
    ;; A step of each accumulator with four bytes.
    (block $done
      (loop $blocks
        (br_if $done (i32.ge_u (local.get $at) (local.get $length)))
        (local.set $a (i32x4.add (local.get $a) (i32x4.mul (v128.load (local.get $at)) (local.get $input))))
        (local.set $a
          (i32x4.mul
            (v128.or (i32x4.shl (local.get $a) (i32.const 13)) (i32x4.shr_u (local.get $a) (i32.const 19)))
            (local.get $turn)))
        (local.set $b (i32x4.add (local.get $b) (i32x4.mul (v128.load offset=16 (local.get $at)) (local.get $input))))
        (local.set $b
          (i32x4.mul
            (v128.or (i32x4.shl (local.get $b) (i32.const 13)) (i32x4.shr_u (local.get $b) (i32.const 19)))
            (local.get $turn)))
        (local.set $c (i32x4.add (local.get $c) (i32x4.mul (v128.load offset=32 (local.get $at)) (local.get $input))))
        (local.set $c
          (i32x4.mul
            (v128.or (i32x4.shl (local.get $c) (i32.const 13)) (i32x4.shr_u (local.get $c) (i32.const 19)))
            (local.get $turn)))
        (local.set $d (i32x4.add (local.get $d) (i32x4.mul (v128.load offset=48 (local.get $at)) (local.get $input))))
        (local.set $d
          (i32x4.mul
            (v128.or (i32x4.shl (local.get $d) (i32.const 13)) (i32x4.shr_u (local.get $d) (i32.const 19)))
            (local.get $turn)))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br $blocks)))
    (global.set $a (local.get $a))
    (global.set $b (local.get $b))
    (global.set $c (local.get $c))
    (global.set $d (local.get $d)))

  (func $turned (param $v v128) (param $bits i32) (result v128)
    (v128.or
      (i32x4.shl (local.get $v) (local.get $bits))
      (i32x4.shr_u (local.get $v) (i32.sub (i32.const 32) (local.get $bits)))))

  ;; Of all parts, which had this length together.
  (func (export "end") (param $length i32) (result i32)
    (local $v v128) (local $sum i32)
    (local.set $v
      (i32x4.add
        (i32x4.add (call $turned (global.get $a) (i32.const 1)) (call $turned (global.get $b) (i32.const 7)))
        (i32x4.add (call $turned (global.get $c) (i32.const 12)) (call $turned (global.get $d) (i32.const 18)))))
    (local.set $sum
      (i32.add
        (i32.add
          (i32.add
            (i32.rotl (i32x4.extract_lane 0 (local.get $v)) (i32.const 1))
            (i32.rotl (i32x4.extract_lane 1 (local.get $v)) (i32.const 7)))
          (i32.add
            (i32.rotl (i32x4.extract_lane 2 (local.get $v)) (i32.const 12))
            (i32.rotl (i32x4.extract_lane 3 (local.get $v)) (i32.const 18))))
        (local.get $length)))
    (local.set $sum
      (i32.mul (i32.xor (local.get $sum) (i32.shr_u (local.get $sum) (i32.const 15))) (i32.const 0x85ebca77)))
    (local.set $sum
      (i32.mul (i32.xor (local.get $sum) (i32.shr_u (local.get $sum) (i32.const 13))) (i32.const 0xc2b2ae3d)))
    (i32.xor (local.get $sum) (i32.shr_u (local.get $sum) (i32.const 16)))))

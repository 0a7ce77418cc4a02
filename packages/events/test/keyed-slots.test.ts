import fc from 'fast-check';
import { KeyedSlots } from '../src/internal/keyed-slots.js';

test('slots are found by key and number beyond one, two and three levels', () => {
  for (const count of [1, 32, 33, 1_024, 1_025, 33_000]) {
    let slots = KeyedSlots.empty<number>();
    for (let value = 0; value < count; value += 1) slots = slots.add(`k${value % 1_000}`, value);
    expect(slots.length).toBe(count);
    expect([0, count >> 1, count - 1].map((slot) => slots.at(slot))).toEqual([0, count >> 1, count - 1]);
    expect([slots.at(-1), slots.at(count)]).toEqual([null, null]);
    expect(slots.newest(`k${(count - 1) % 1_000}`)).toBe(count - 1);
    expect(slots.newest('none')).toBeNull();
    const replaced = slots.replace(count - 1, -1);
    expect([replaced.at(count - 1), slots.at(count - 1)]).toEqual([-1, count - 1]);
  }
});

test('one key may have very many slots', () => {
  let slots = KeyedSlots.empty<number>();
  for (let value = 0; value < 200_000; value += 1) slots = slots.add('one', value).replace(value, value + 1);
  expect([...slots.values()].length).toBe(200_000);
  expect(slots.newest('one')).toBe(199_999);
});

interface Version {
  readonly slots: KeyedSlots<number>;
  readonly naive: readonly (readonly [key: string, value: number])[];
}

test('all versions stand side by side, whichever others they have grown into', () => {
  const keys = ['a', 'b', 'c', '__proto__'] as const;
  const step = fc.record({
    from: fc.nat(),
    key: fc.constantFrom(...keys),
    slot: fc.nat(),
    isAdded: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const versions: Version[] = [{ slots: KeyedSlots.empty<number>(), naive: [] }];
      steps.forEach(({ from, key, slot, isAdded }, value) => {
        const before = versions[from % versions.length] as Version;
        const at = slot % Math.max(before.naive.length, 1);
        if (isAdded || before.naive.length === 0) {
          versions.push({ slots: before.slots.add(key, value), naive: [...before.naive, [key, value]] });
        } else {
          const naive = before.naive.map((entry, index) =>
            index === at ? ([entry[0], value] as const) : entry,
          );
          versions.push({ slots: before.slots.replace(at, value), naive });
        }
      });
      for (const { slots, naive } of versions) {
        expect([...slots.values()]).toEqual(naive.map(([, value]) => value));
        for (const key of keys) {
          const newest = naive.findLastIndex(([own]) => own === key);
          expect(slots.newest(key)).toBe(newest < 0 ? null : newest);
        }
      }
    }),
  );
});

test('versions part beyond one level too', () => {
  let before = KeyedSlots.empty<number>();
  for (let value = 0; value < 40; value += 1) before = before.add('k', value);
  const [one, other] = [before.replace(0, -1), before.add('x', 40)];
  expect([before.at(0), one.at(0), other.at(0)]).toEqual([0, -1, 0]);
  expect([before.newest('x'), one.newest('x'), other.newest('x')]).toEqual([null, null, 40]);
});

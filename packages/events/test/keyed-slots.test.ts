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

struct Shape {
  uint heads, kv_heads, queries, keys, dim, value, q_head, q_row, k_head, k_row, v_head, v_row, out_head;
  bool causal;
  float scale;
};

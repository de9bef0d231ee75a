(document (block_node (block_mapping
  (block_mapping_pair
    key: (flow_node [(plain_scalar) (double_quote_scalar) (single_quote_scalar)] @name)) @definition.key)))

(document (block_node (block_mapping (block_mapping_pair value: (block_node (block_mapping
  (block_mapping_pair
    key: (flow_node [(plain_scalar) (double_quote_scalar) (single_quote_scalar)] @name)) @definition.key))))))

(document (block_node (block_mapping (block_mapping_pair value: (block_node (block_mapping
  (block_mapping_pair value: (block_node (block_mapping
    (block_mapping_pair
      key: (flow_node [(plain_scalar) (double_quote_scalar) (single_quote_scalar)] @name)) @definition.key)))))))))

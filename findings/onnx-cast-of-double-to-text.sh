#!/usr/bin/env bash
# ONNX Runtime writes doubles with eight digits when a model casts them to text.
#
# One would guess: Cast from double to string gives the shortest text that reads back as the number, or 17
#   digits.
# What happens: 123456789012.0 becomes 1.2345679e+11, and 0.1 + 0.2 becomes 0.3. Whole numbers as int64 keep
#   all digits.
# Why: doubles are formatted as 32-bit numbers are, with the digits that suffice for those.
# Who meets it: a pipeline whose ids or categories arrive as doubles (pandas makes them of whole numbers with
#   a missing one) and are looked up as texts in the model: customers of twelve digits fall together.
source "$(dirname "$0")/common.sh"

packages onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
cat > "$folder/look.py" <<'P'
import numpy as np
import onnxruntime
from onnx import TensorProto, helper


def cast(values, source):
    """Cast values to text by a model of one node."""
    node = helper.make_node("Cast", ["x"], ["y"], to=TensorProto.STRING)
    graph = helper.make_graph(
        [node],
        "cast",
        [helper.make_tensor_value_info("x", source, [None])],
        [helper.make_tensor_value_info("y", TensorProto.STRING, [None])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": values})[0].tolist()


print("double:", cast(np.array([123456789012.0, 123456789013.0, 0.1 + 0.2]), TensorProto.DOUBLE))
print("int64:", cast(np.array([123456789012, 123456789013]), TensorProto.INT64))
P
seen "$folder/venv/bin/python" look.py <<'P'
double: ['1.2345679e+11', '1.2345679e+11', '0.3']
int64: ['123456789012', '123456789013']
P

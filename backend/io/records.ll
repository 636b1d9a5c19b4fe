; sha256 ac5bd162bb4ac6c58f4020dc82e987b2b3f513acdbdb2c60e53861e095d03505
%union.anon = type { double }
@.str = private unnamed_addr constant [5 x i8] c"true\00", align 1
@.str.1 = private unnamed_addr constant [6 x i8] c"false\00", align 1
@real.tens = internal unnamed_addr constant [23 x double] [double 1.000000e+00, double 1.000000e+01, double 1.000000e+02, double 1.000000e+03, double 1.000000e+04, double 1.000000e+05, double 1.000000e+06, double 1.000000e+07, double 1.000000e+08, double 1.000000e+09, double 1.000000e+10, double 1.000000e+11, double 1.000000e+12, double 1.000000e+13, double 1.000000e+14, double 1.000000e+15, double 1.000000e+16, double 1.000000e+17, double 1.000000e+18, double 1.000000e+19, double 1.000000e+20, double 1.000000e+21, double 1.000000e+22], align 16
@.str.2 = private unnamed_addr constant [4 x i8] c"inf\00", align 1
@.str.3 = private unnamed_addr constant [4 x i8] c"nan\00", align 1
@days_of.before = internal unnamed_addr constant [13 x i16] [i16 0, i16 31, i16 59, i16 90, i16 120, i16 151, i16 181, i16 212, i16 243, i16 273, i16 304, i16 334, i16 365], align 16
define dso_local i64 @kernel(ptr nocapture noundef %0) local_unnamed_addr #0 {
  %2 = alloca ptr, align 8
  %3 = alloca i64, align 8
  %4 = alloca ptr, align 8
  %5 = alloca i64, align 8
  %6 = alloca ptr, align 8
  %7 = alloca double, align 8
  %8 = alloca [256 x i8], align 16
  %9 = load i64, ptr %0, align 8
  switch i64 %9, label %271 [
    i64 0, label %10
    i64 1, label %207
  ]
10:                                               ; preds = %1
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %12 = load ptr, ptr %11, align 8
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %14 = load i64, ptr %13, align 8
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %16 = load i64, ptr %15, align 8
  call void @llvm.lifetime.start.p0(i64 256, ptr nonnull %8) #8
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 16 dereferenceable(256) %8, i8 0, i64 256, i1 false)
  store i8 1, ptr %8, align 16
  %17 = getelementptr inbounds nuw i8, ptr %8, i64 13
  store i8 1, ptr %17, align 1
  %18 = getelementptr inbounds nuw i8, ptr %8, i64 10
  store i8 1, ptr %18, align 2
  %19 = and i64 %16, 255
  %20 = getelementptr inbounds nuw [256 x i8], ptr %8, i64 0, i64 %19
  store i8 1, ptr %20, align 1
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 96
  store i64 0, ptr %21, align 8
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 88
  store i64 0, ptr %22, align 8
  %23 = getelementptr i8, ptr %12, i64 1
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %27 = trunc i64 %16 to i8
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 64
  br label %29
29:                                               ; preds = %196, %10
  %30 = phi i64 [ %117, %196 ], [ 0, %10 ]
  %31 = phi i64 [ %199, %196 ], [ 0, %10 ]
  %32 = phi i64 [ %137, %196 ], [ 0, %10 ]
  %33 = phi i64 [ %138, %196 ], [ 0, %10 ]
  %34 = icmp eq i64 %31, 0
  br label %35
35:                                               ; preds = %29, %194
  %36 = phi i64 [ %137, %194 ], [ %32, %29 ]
  %37 = phi i64 [ %138, %194 ], [ %33, %29 ]
  %38 = icmp slt i64 %37, %14
  br i1 %38, label %43, label %39
39:                                               ; preds = %35
  %40 = load i64, ptr %24, align 8
  %41 = icmp ne i64 %40, 0
  %42 = select i1 %41, i1 %34, i1 false
  br i1 %42, label %43, label %201
43:                                               ; preds = %39, %35
  br label %44
44:                                               ; preds = %43, %134
  %45 = phi i64 [ %117, %134 ], [ %30, %43 ]
  %46 = phi i64 [ %103, %134 ], [ %36, %43 ]
  %47 = phi i64 [ %135, %134 ], [ %37, %43 ]
  br label %48
48:                                               ; preds = %52, %44
  %49 = phi i64 [ %47, %44 ], [ %53, %52 ]
  %50 = getelementptr inbounds i8, ptr %12, i64 %49
  %51 = load i8, ptr %50, align 1
  switch i8 %51, label %93 [
    i8 32, label %52
    i8 34, label %54
  ]
52:                                               ; preds = %48
  %53 = add nsw i64 %49, 1
  br label %48
54:                                               ; preds = %48
  %55 = add nsw i64 %49, 1
  br label %56
56:                                               ; preds = %86, %54
  %57 = phi i64 [ %46, %54 ], [ %80, %86 ]
  %58 = phi i64 [ %55, %54 ], [ %87, %86 ]
  %59 = phi i32 [ -2147483648, %54 ], [ -1073741824, %86 ]
  %60 = getelementptr inbounds i8, ptr %12, i64 %58
  %61 = load i8, ptr %60, align 1
  %62 = icmp ne i8 %61, 34
  %63 = icmp slt i64 %58, %14
  %64 = and i1 %63, %62
  br i1 %64, label %65, label %78
65:                                               ; preds = %56, %65
  %66 = phi i8 [ %74, %65 ], [ %61, %56 ]
  %67 = phi i64 [ %72, %65 ], [ %58, %56 ]
  %68 = phi i64 [ %71, %65 ], [ %57, %56 ]
  %69 = icmp eq i8 %66, 10
  %70 = zext i1 %69 to i64
  %71 = add nsw i64 %68, %70
  %72 = add nsw i64 %67, 1
  %73 = getelementptr inbounds i8, ptr %12, i64 %72
  %74 = load i8, ptr %73, align 1
  %75 = icmp ne i8 %74, 34
  %76 = icmp slt i64 %72, %14
  %77 = and i1 %76, %75
  br i1 %77, label %65, label %78
78:                                               ; preds = %65, %56
  %79 = phi i64 [ %58, %56 ], [ %72, %65 ]
  %80 = phi i64 [ %57, %56 ], [ %71, %65 ]
  %81 = phi i1 [ %63, %56 ], [ %76, %65 ]
  br i1 %81, label %82, label %88
82:                                               ; preds = %78
  %83 = getelementptr i8, ptr %23, i64 %79
  %84 = load i8, ptr %83, align 1
  %85 = icmp eq i8 %84, 34
  br i1 %85, label %86, label %91
86:                                               ; preds = %82
  %87 = add nsw i64 %79, 2
  br label %56
88:                                               ; preds = %78
  %89 = sub nsw i64 %79, %55
  %90 = icmp sgt i64 %89, 131072
  br i1 %90, label %205, label %201
91:                                               ; preds = %82
  %92 = add nsw i64 %79, 1
  br label %102
93:                                               ; preds = %48, %93
  %94 = phi i64 [ %101, %93 ], [ %49, %48 ]
  %95 = getelementptr inbounds i8, ptr %12, i64 %94
  %96 = load i8, ptr %95, align 1
  %97 = zext i8 %96 to i64
  %98 = getelementptr inbounds nuw [256 x i8], ptr %8, i64 0, i64 %97
  %99 = load i8, ptr %98, align 1
  %100 = icmp eq i8 %99, 0
  %101 = add nsw i64 %94, 1
  br i1 %100, label %93, label %102
102:                                              ; preds = %93, %91
  %103 = phi i64 [ %80, %91 ], [ %46, %93 ]
  %104 = phi i64 [ %92, %91 ], [ %94, %93 ]
  %105 = phi i64 [ %55, %91 ], [ %49, %93 ]
  %106 = phi i64 [ %79, %91 ], [ %94, %93 ]
  %107 = phi i32 [ %59, %91 ], [ 0, %93 ]
  %108 = sub nsw i64 %106, %105
  %109 = icmp sgt i64 %108, 131072
  br i1 %109, label %205, label %110
110:                                              ; preds = %102
  %111 = trunc i64 %105 to i32
  %112 = load ptr, ptr %25, align 8
  %113 = getelementptr inbounds i32, ptr %112, i64 %45
  store i32 %111, ptr %113, align 4
  %114 = trunc i64 %106 to i32
  %115 = or i32 %107, %114
  %116 = load ptr, ptr %26, align 8
  %117 = add nsw i64 %45, 1
  %118 = getelementptr inbounds i32, ptr %116, i64 %45
  store i32 %115, ptr %118, align 4
  %119 = icmp slt i64 %104, %14
  br i1 %119, label %120, label %136
120:                                              ; preds = %110
  %121 = getelementptr inbounds i8, ptr %12, i64 %104
  %122 = load i8, ptr %121, align 1
  %123 = icmp eq i8 %122, %27
  br i1 %123, label %134, label %124
124:                                              ; preds = %120
  switch i8 %122, label %205 [
    i8 10, label %129
    i8 13, label %125
  ]
125:                                              ; preds = %124
  %126 = getelementptr i8, ptr %23, i64 %104
  %127 = load i8, ptr %126, align 1
  %128 = icmp eq i8 %127, 10
  br i1 %128, label %129, label %205
129:                                              ; preds = %125, %124
  %130 = icmp eq i8 %122, 13
  %131 = select i1 %130, i64 2, i64 1
  %132 = add nsw i64 %131, %104
  %133 = add nsw i64 %103, 1
  br label %136
134:                                              ; preds = %120
  %135 = add nsw i64 %104, 1
  br label %44
136:                                              ; preds = %110, %129
  %137 = phi i64 [ %133, %129 ], [ %103, %110 ]
  %138 = phi i64 [ %132, %129 ], [ %104, %110 ]
  store i64 %138, ptr %22, align 8
  store i64 %137, ptr %21, align 8
  %139 = sub nsw i64 %117, %30
  %140 = icmp eq i64 %139, 1
  br i1 %140, label %141, label %196
141:                                              ; preds = %136
  %142 = load i64, ptr %24, align 8
  %143 = icmp eq i64 %142, 0
  br i1 %143, label %144, label %196
144:                                              ; preds = %141
  %145 = load ptr, ptr %26, align 8
  %146 = getelementptr inbounds i32, ptr %145, i64 %30
  %147 = load i32, ptr %146, align 4
  %148 = icmp sgt i32 %147, -1
  br i1 %148, label %149, label %196
149:                                              ; preds = %144
  %150 = load ptr, ptr %25, align 8
  %151 = getelementptr inbounds i32, ptr %150, i64 %30
  %152 = load i32, ptr %151, align 4
  %153 = zext i32 %152 to i64
  %154 = getelementptr inbounds nuw i8, ptr %12, i64 %153
  %155 = zext nneg i32 %147 to i64
  %156 = getelementptr inbounds nuw i8, ptr %12, i64 %155
  %157 = icmp ult i32 %152, %147
  br i1 %157, label %158, label %162
158:                                              ; preds = %149, %165
  %159 = phi ptr [ %167, %165 ], [ %154, %149 ]
  %160 = tail call fastcc i32 @space(ptr noundef %159, ptr noundef nonnull %156) #9
  %161 = icmp eq i32 %160, 0
  br i1 %161, label %162, label %165
162:                                              ; preds = %165, %158, %149
  %163 = phi ptr [ %154, %149 ], [ %167, %165 ], [ %159, %158 ]
  %164 = ptrtoint ptr %163 to i64
  br label %169
165:                                              ; preds = %158
  %166 = zext nneg i32 %160 to i64
  %167 = getelementptr inbounds nuw i8, ptr %159, i64 %166
  %168 = icmp ult ptr %167, %156
  br i1 %168, label %158, label %162
169:                                              ; preds = %189, %162
  %170 = phi ptr [ %156, %162 ], [ %191, %189 ]
  %171 = icmp ult ptr %163, %170
  br i1 %171, label %172, label %194
172:                                              ; preds = %169
  %173 = getelementptr inbounds i8, ptr %170, i64 -1
  %174 = load i8, ptr %173, align 1
  %175 = icmp sgt i8 %174, -1
  %176 = ptrtoint ptr %170 to i64
  %177 = sub i64 %176, %164
  br i1 %175, label %185, label %178
178:                                              ; preds = %172
  %179 = icmp sgt i64 %177, 1
  br i1 %179, label %180, label %185
180:                                              ; preds = %178
  %181 = getelementptr inbounds i8, ptr %170, i64 -2
  %182 = load i8, ptr %181, align 1
  %183 = icmp eq i8 %182, -62
  %184 = select i1 %183, i32 2, i32 3
  br label %185
185:                                              ; preds = %180, %178, %172
  %186 = phi i32 [ 3, %178 ], [ %184, %180 ], [ 1, %172 ]
  %187 = zext nneg i32 %186 to i64
  %188 = icmp slt i64 %177, %187
  br i1 %188, label %194, label %189
189:                                              ; preds = %185
  %190 = sub nsw i64 0, %187
  %191 = getelementptr inbounds i8, ptr %170, i64 %190
  %192 = tail call fastcc i32 @space(ptr noundef nonnull %191, ptr noundef nonnull %170) #9
  %193 = icmp eq i32 %192, %186
  br i1 %193, label %169, label %194
194:                                              ; preds = %189, %185, %169
  %195 = icmp eq ptr %163, %170
  br i1 %195, label %35, label %196
196:                                              ; preds = %194, %144, %141, %136
  %197 = trunc i64 %30 to i32
  %198 = load ptr, ptr %28, align 8
  %199 = add nuw nsw i64 %31, 1
  %200 = getelementptr inbounds nuw i32, ptr %198, i64 %31
  store i32 %197, ptr %200, align 4
  br label %29
201:                                              ; preds = %39, %88
  %202 = phi i64 [ 1, %88 ], [ 0, %39 ]
  %203 = getelementptr inbounds nuw i8, ptr %0, i64 72
  store i64 %30, ptr %203, align 8
  %204 = getelementptr inbounds nuw i8, ptr %0, i64 80
  store i64 %31, ptr %204, align 8
  br label %205
205:                                              ; preds = %124, %125, %102, %88, %201
  %206 = phi i64 [ %202, %201 ], [ 2, %88 ], [ 2, %102 ], [ 2, %125 ], [ 2, %124 ]
  call void @llvm.lifetime.end.p0(i64 256, ptr nonnull %8) #8
  br label %1209
207:                                              ; preds = %1
  %208 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %209 = load i64, ptr %208, align 8
  %210 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %211 = load ptr, ptr %210, align 8
  %212 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %213 = load i64, ptr %212, align 8
  %214 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %215 = load i64, ptr %214, align 8
  %216 = icmp slt i64 %213, %215
  br i1 %216, label %217, label %1209
217:                                              ; preds = %207
  %218 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %219 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %220 = getelementptr inbounds nuw i8, ptr %0, i64 48
  br label %221
221:                                              ; preds = %264, %217
  %222 = phi i64 [ %215, %217 ], [ %265, %264 ]
  %223 = phi i64 [ 0, %217 ], [ %268, %264 ]
  %224 = phi i64 [ %213, %217 ], [ %269, %264 ]
  %225 = load ptr, ptr %218, align 8
  %226 = getelementptr inbounds i32, ptr %225, i64 %224
  %227 = load i32, ptr %226, align 4
  %228 = load ptr, ptr %219, align 8
  %229 = load ptr, ptr %220, align 8
  %230 = getelementptr inbounds i32, ptr %229, i64 %224
  %231 = load i32, ptr %230, align 4
  %232 = zext i32 %231 to i64
  %233 = and i32 %227, 1073741823
  %234 = zext nneg i32 %233 to i64
  %235 = getelementptr inbounds nuw i8, ptr %228, i64 %234
  %236 = sub nsw i64 %234, %232
  %237 = getelementptr inbounds i64, ptr %211, i64 %223
  %238 = load i64, ptr %237, align 8
  %239 = icmp sgt i64 %236, %238
  br i1 %239, label %240, label %264
240:                                              ; preds = %221
  %241 = icmp ult i32 %231, %233
  br i1 %241, label %242, label %259
242:                                              ; preds = %240
  %243 = getelementptr inbounds nuw i8, ptr %228, i64 %232
  %244 = and i32 %227, 1073741824
  %245 = icmp ne i32 %244, 0
  br label %246
246:                                              ; preds = %246, %242
  %247 = phi i64 [ 0, %242 ], [ %252, %246 ]
  %248 = phi ptr [ %243, %242 ], [ %257, %246 ]
  %249 = load i8, ptr %248, align 1
  %250 = icmp sgt i8 %249, -65
  %251 = zext i1 %250 to i64
  %252 = add nuw nsw i64 %247, %251
  %253 = icmp eq i8 %249, 34
  %254 = and i1 %245, %253
  %255 = zext i1 %254 to i64
  %256 = getelementptr inbounds nuw i8, ptr %248, i64 %255
  %257 = getelementptr inbounds nuw i8, ptr %256, i64 1
  %258 = icmp ult ptr %257, %235
  br i1 %258, label %246, label %259
259:                                              ; preds = %246, %240
  %260 = phi i64 [ 0, %240 ], [ %252, %246 ]
  %261 = icmp sgt i64 %260, %238
  br i1 %261, label %262, label %264
262:                                              ; preds = %259
  store i64 %260, ptr %237, align 8
  %263 = load i64, ptr %214, align 8
  br label %264
264:                                              ; preds = %262, %259, %221
  %265 = phi i64 [ %222, %259 ], [ %263, %262 ], [ %222, %221 ]
  %266 = add nsw i64 %223, 1
  %267 = icmp eq i64 %266, %209
  %268 = select i1 %267, i64 0, i64 %266
  %269 = add nsw i64 %224, 1
  %270 = icmp slt i64 %269, %265
  br i1 %270, label %221, label %1209
271:                                              ; preds = %1
  %272 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %273 = load i64, ptr %272, align 8
  %274 = getelementptr inbounds nuw i8, ptr %0, i64 136
  %275 = load i64, ptr %274, align 8
  %276 = icmp slt i64 %273, %275
  br i1 %276, label %277, label %1209
277:                                              ; preds = %271
  %278 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %279 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %280 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %281 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %282 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %283 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %284 = getelementptr inbounds nuw i8, ptr %0, i64 152
  %285 = getelementptr inbounds nuw i8, ptr %0, i64 160
  %286 = getelementptr inbounds nuw i8, ptr %0, i64 168
  %287 = getelementptr inbounds nuw i8, ptr %0, i64 192
  %288 = getelementptr inbounds nuw i8, ptr %0, i64 184
  %289 = getelementptr inbounds nuw i8, ptr %0, i64 224
  %290 = getelementptr inbounds nuw i8, ptr %0, i64 176
  br label %291
291:                                              ; preds = %1205, %277
  %292 = phi i64 [ %273, %277 ], [ %1206, %1205 ]
  %293 = load i64, ptr %278, align 8
  %294 = load i64, ptr %279, align 8
  %295 = mul nsw i64 %294, %292
  %296 = add nsw i64 %295, %293
  %297 = load ptr, ptr %280, align 8
  %298 = getelementptr inbounds i32, ptr %297, i64 %296
  %299 = load i32, ptr %298, align 4
  %300 = load ptr, ptr %281, align 8
  %301 = load ptr, ptr %282, align 8
  %302 = getelementptr inbounds i32, ptr %301, i64 %296
  %303 = load i32, ptr %302, align 4
  %304 = zext i32 %303 to i64
  %305 = getelementptr inbounds nuw i8, ptr %300, i64 %304
  %306 = and i32 %299, 1073741823
  %307 = zext nneg i32 %306 to i64
  %308 = getelementptr inbounds nuw i8, ptr %300, i64 %307
  %309 = load ptr, ptr %283, align 8
  %310 = load i64, ptr %284, align 8
  %311 = mul nsw i64 %310, %292
  %312 = getelementptr inbounds i8, ptr %309, i64 %311
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #8
  %313 = icmp ult i32 %303, %306
  br i1 %313, label %314, label %318
314:                                              ; preds = %291, %321
  %315 = phi ptr [ %323, %321 ], [ %305, %291 ]
  %316 = tail call fastcc i32 @space(ptr noundef %315, ptr noundef nonnull %308) #9
  %317 = icmp eq i32 %316, 0
  br i1 %317, label %318, label %321
318:                                              ; preds = %321, %314, %291
  %319 = phi ptr [ %305, %291 ], [ %315, %314 ], [ %323, %321 ]
  %320 = ptrtoint ptr %319 to i64
  br label %325
321:                                              ; preds = %314
  %322 = zext nneg i32 %316 to i64
  %323 = getelementptr inbounds nuw i8, ptr %315, i64 %322
  %324 = icmp ult ptr %323, %308
  br i1 %324, label %314, label %318
325:                                              ; preds = %345, %318
  %326 = phi ptr [ %308, %318 ], [ %347, %345 ]
  %327 = icmp ult ptr %319, %326
  br i1 %327, label %328, label %350
328:                                              ; preds = %325
  %329 = getelementptr inbounds i8, ptr %326, i64 -1
  %330 = load i8, ptr %329, align 1
  %331 = icmp sgt i8 %330, -1
  %332 = ptrtoint ptr %326 to i64
  %333 = sub i64 %332, %320
  br i1 %331, label %341, label %334
334:                                              ; preds = %328
  %335 = icmp sgt i64 %333, 1
  br i1 %335, label %336, label %341
336:                                              ; preds = %334
  %337 = getelementptr inbounds i8, ptr %326, i64 -2
  %338 = load i8, ptr %337, align 1
  %339 = icmp eq i8 %338, -62
  %340 = select i1 %339, i32 2, i32 3
  br label %341
341:                                              ; preds = %336, %334, %328
  %342 = phi i32 [ 3, %334 ], [ %340, %336 ], [ 1, %328 ]
  %343 = zext nneg i32 %342 to i64
  %344 = icmp slt i64 %333, %343
  br i1 %344, label %350, label %345
345:                                              ; preds = %341
  %346 = sub nsw i64 0, %343
  %347 = getelementptr inbounds i8, ptr %326, i64 %346
  %348 = tail call fastcc i32 @space(ptr noundef nonnull %347, ptr noundef nonnull %326) #9
  %349 = icmp eq i32 %348, %342
  br i1 %349, label %325, label %350
350:                                              ; preds = %345, %341, %325
  store ptr %319, ptr %6, align 8
  %351 = icmp eq ptr %319, %326
  br i1 %351, label %367, label %352
352:                                              ; preds = %350
  %353 = ptrtoint ptr %326 to i64
  %354 = sub i64 %353, %320
  %355 = icmp eq i64 %354, 2
  br i1 %355, label %356, label %363
356:                                              ; preds = %352
  %357 = load i8, ptr %319, align 1
  %358 = icmp eq i8 %357, 78
  br i1 %358, label %359, label %363
359:                                              ; preds = %356
  %360 = getelementptr inbounds nuw i8, ptr %319, i64 1
  %361 = load i8, ptr %360, align 1
  %362 = icmp eq i8 %361, 65
  br label %363
363:                                              ; preds = %359, %356, %352
  %364 = phi i1 [ false, %356 ], [ false, %352 ], [ %362, %359 ]
  %365 = load i64, ptr %285, align 8
  %366 = icmp eq i64 %365, 5
  br i1 %366, label %370, label %374
367:                                              ; preds = %350
  %368 = load i64, ptr %285, align 8
  %369 = icmp eq i64 %368, 5
  br i1 %369, label %370, label %375
370:                                              ; preds = %367, %363
  %371 = phi i1 [ true, %367 ], [ %364, %363 ]
  %372 = xor i1 %371, true
  %373 = zext i1 %372 to i8
  store i8 %373, ptr %312, align 1
  br label %1201
374:                                              ; preds = %363
  br i1 %364, label %375, label %395
375:                                              ; preds = %374, %367
  %376 = phi i64 [ %365, %374 ], [ %368, %367 ]
  %377 = icmp sgt i32 %299, -1
  br i1 %377, label %381, label %378
378:                                              ; preds = %375
  %379 = load i64, ptr %286, align 8
  %380 = icmp eq i64 %379, 0
  br i1 %380, label %381, label %395
381:                                              ; preds = %378, %375
  %382 = load ptr, ptr %290, align 8
  %383 = icmp eq ptr %382, null
  br i1 %383, label %1200, label %384
384:                                              ; preds = %381
  %385 = icmp sgt i64 %310, 0
  br i1 %385, label %386, label %1201
386:                                              ; preds = %384, %386
  %387 = phi i64 [ %392, %386 ], [ 0, %384 ]
  %388 = load ptr, ptr %290, align 8
  %389 = getelementptr inbounds nuw i8, ptr %388, i64 %387
  %390 = load i8, ptr %389, align 1
  %391 = getelementptr inbounds nuw i8, ptr %312, i64 %387
  store i8 %390, ptr %391, align 1
  %392 = add nuw nsw i64 %387, 1
  %393 = load i64, ptr %284, align 8
  %394 = icmp slt i64 %392, %393
  br i1 %394, label %386, label %1201
395:                                              ; preds = %378, %374
  %396 = phi i64 [ %376, %378 ], [ %365, %374 ]
  switch i64 %396, label %940 [
    i64 0, label %397
    i64 1, label %461
    i64 2, label %463
    i64 3, label %477
    i64 4, label %540
    i64 6, label %689
    i64 7, label %696
  ]
397:                                              ; preds = %395
  %398 = sdiv i64 %310, 4
  %399 = getelementptr inbounds i32, ptr %312, i64 %398
  br i1 %313, label %400, label %403
400:                                              ; preds = %397
  %401 = and i32 %299, 1073741824
  %402 = icmp eq i32 %401, 0
  br label %406
403:                                              ; preds = %452, %397
  %404 = phi ptr [ %312, %397 ], [ %455, %452 ]
  %405 = icmp ult ptr %404, %399
  br i1 %405, label %457, label %1201
406:                                              ; preds = %452, %400
  %407 = phi ptr [ %312, %400 ], [ %455, %452 ]
  %408 = phi ptr [ %305, %400 ], [ %453, %452 ]
  %409 = icmp eq ptr %407, %399
  br i1 %409, label %1200, label %410
410:                                              ; preds = %406
  %411 = getelementptr inbounds nuw i8, ptr %408, i64 1
  %412 = load i8, ptr %408, align 1
  %413 = zext i8 %412 to i32
  %414 = icmp slt i8 %412, 0
  br i1 %414, label %415, label %447
415:                                              ; preds = %410
  %416 = icmp samesign ugt i8 %412, -17
  %417 = icmp samesign ugt i8 %412, -33
  %418 = select i1 %417, i32 15, i32 31
  %419 = select i1 %416, i32 7, i32 %418
  %420 = and i32 %419, %413
  %421 = icmp ult ptr %411, %308
  br i1 %421, label %422, label %452
422:                                              ; preds = %415
  %423 = shl nuw nsw i32 %420, 6
  %424 = getelementptr inbounds nuw i8, ptr %408, i64 2
  %425 = load i8, ptr %411, align 1
  %426 = and i8 %425, 63
  %427 = zext nneg i8 %426 to i32
  %428 = or disjoint i32 %423, %427
  %429 = icmp ult ptr %424, %308
  %430 = select i1 %417, i1 %429, i1 false
  br i1 %430, label %431, label %452
431:                                              ; preds = %422
  %432 = shl nuw nsw i32 %428, 6
  %433 = getelementptr inbounds nuw i8, ptr %408, i64 3
  %434 = load i8, ptr %424, align 1
  %435 = and i8 %434, 63
  %436 = zext nneg i8 %435 to i32
  %437 = or disjoint i32 %432, %436
  %438 = icmp ult ptr %433, %308
  %439 = select i1 %416, i1 %438, i1 false
  br i1 %439, label %440, label %452
440:                                              ; preds = %431
  %441 = shl nuw nsw i32 %437, 6
  %442 = getelementptr inbounds nuw i8, ptr %408, i64 4
  %443 = load i8, ptr %433, align 1
  %444 = and i8 %443, 63
  %445 = zext nneg i8 %444 to i32
  %446 = or disjoint i32 %441, %445
  br label %452
447:                                              ; preds = %410
  %448 = icmp eq i8 %412, 34
  br i1 %448, label %449, label %452
449:                                              ; preds = %447
  %450 = getelementptr inbounds nuw i8, ptr %408, i64 2
  %451 = select i1 %402, ptr %411, ptr %450
  br label %452
452:                                              ; preds = %422, %431, %440, %449, %447, %415
  %453 = phi ptr [ %411, %447 ], [ %451, %449 ], [ %411, %415 ], [ %424, %422 ], [ %433, %431 ], [ %442, %440 ]
  %454 = phi i32 [ %413, %447 ], [ 34, %449 ], [ %420, %415 ], [ %428, %422 ], [ %437, %431 ], [ %446, %440 ]
  %455 = getelementptr inbounds nuw i8, ptr %407, i64 4
  store i32 %454, ptr %407, align 4
  %456 = icmp ult ptr %453, %308
  br i1 %456, label %406, label %403
457:                                              ; preds = %403, %457
  %458 = phi ptr [ %459, %457 ], [ %404, %403 ]
  %459 = getelementptr inbounds nuw i8, ptr %458, i64 4
  store i32 32, ptr %458, align 4
  %460 = icmp ult ptr %459, %399
  br i1 %460, label %457, label %1201
461:                                              ; preds = %395
  %462 = tail call fastcc i32 @real(ptr noundef nonnull readonly %0, ptr noundef %319, ptr noundef %326, ptr noundef %312) #9
  br label %1202
463:                                              ; preds = %395
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %7) #8
  %464 = call fastcc i32 @real(ptr noundef nonnull readonly %0, ptr noundef %319, ptr noundef %326, ptr noundef nonnull %7) #9
  %465 = icmp eq i32 %464, 0
  br i1 %465, label %475, label %466
466:                                              ; preds = %463
  %467 = load double, ptr %7, align 8
  %468 = tail call double @llvm.fabs.f64(double %467)
  %469 = fcmp ogt double %468, 0x47EFFFFFD586B834
  %470 = fsub double %467, %467
  %471 = fcmp oeq double %470, 0.000000e+00
  %472 = select i1 %469, i1 %471, i1 false
  br i1 %472, label %475, label %473
473:                                              ; preds = %466
  %474 = fptrunc double %467 to float
  store float %474, ptr %312, align 4
  br label %475
475:                                              ; preds = %473, %466, %463
  %476 = phi i32 [ 1, %473 ], [ 0, %463 ], [ 0, %466 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #8
  br label %1202
477:                                              ; preds = %395
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %4)
  store ptr %319, ptr %4, align 8
  br i1 %327, label %478, label %483
478:                                              ; preds = %477
  %479 = load i8, ptr %319, align 1
  switch i8 %479, label %483 [
    i8 45, label %480
    i8 43, label %480
  ]
480:                                              ; preds = %478, %478
  %481 = getelementptr inbounds nuw i8, ptr %319, i64 1
  store ptr %481, ptr %4, align 8
  %482 = icmp eq i8 %479, 45
  br label %510
483:                                              ; preds = %478, %477
  %484 = ptrtoint ptr %326 to i64
  %485 = sub i64 %484, %320
  %486 = icmp sgt i64 %485, 1
  br i1 %486, label %487, label %510
487:                                              ; preds = %483
  %488 = load i8, ptr %319, align 1
  %489 = icmp eq i8 %488, -62
  br i1 %489, label %490, label %496
490:                                              ; preds = %487
  %491 = getelementptr inbounds nuw i8, ptr %319, i64 1
  %492 = load i8, ptr %491, align 1
  %493 = icmp eq i8 %492, -81
  br i1 %493, label %494, label %510
494:                                              ; preds = %490
  %495 = getelementptr inbounds nuw i8, ptr %319, i64 2
  store ptr %495, ptr %4, align 8
  br label %510
496:                                              ; preds = %487
  %497 = icmp ne i64 %485, 2
  %498 = icmp eq i8 %488, -30
  %499 = and i1 %497, %498
  br i1 %499, label %500, label %510
500:                                              ; preds = %496
  %501 = getelementptr inbounds nuw i8, ptr %319, i64 1
  %502 = load i8, ptr %501, align 1
  %503 = icmp eq i8 %502, -120
  br i1 %503, label %504, label %510
504:                                              ; preds = %500
  %505 = getelementptr inbounds nuw i8, ptr %319, i64 2
  %506 = load i8, ptr %505, align 1
  %507 = icmp eq i8 %506, -110
  br i1 %507, label %508, label %510
508:                                              ; preds = %504
  %509 = getelementptr inbounds nuw i8, ptr %319, i64 3
  store ptr %509, ptr %4, align 8
  br label %510
510:                                              ; preds = %508, %504, %500, %496, %494, %490, %483, %480
  %511 = phi ptr [ %481, %480 ], [ %495, %494 ], [ %509, %508 ], [ %319, %504 ], [ %319, %500 ], [ %319, %496 ], [ %319, %483 ], [ %319, %490 ]
  %512 = phi i1 [ %482, %480 ], [ true, %494 ], [ true, %508 ], [ false, %504 ], [ false, %500 ], [ false, %496 ], [ false, %483 ], [ false, %490 ]
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %5) #8
  store i64 0, ptr %5, align 8
  %513 = call fastcc i32 @digits_of(ptr noundef nonnull readonly %0, ptr noundef %4, ptr noundef %326, ptr noundef %5) #9
  %514 = icmp slt i32 %513, 0
  br i1 %514, label %538, label %515
515:                                              ; preds = %510
  %516 = load ptr, ptr %4, align 8
  %517 = icmp ne ptr %516, %511
  %518 = icmp eq ptr %516, %326
  %519 = and i1 %517, %518
  br i1 %519, label %520, label %538
520:                                              ; preds = %515
  %521 = load i64, ptr %5, align 8
  br i1 %512, label %522, label %526
522:                                              ; preds = %520
  %523 = load i64, ptr %288, align 8
  %524 = sub i64 0, %523
  %525 = icmp ugt i64 %521, %524
  br i1 %525, label %538, label %529
526:                                              ; preds = %520
  %527 = load i64, ptr %287, align 8
  %528 = icmp ugt i64 %521, %527
  br i1 %528, label %538, label %529
529:                                              ; preds = %526, %522
  %530 = sub i64 0, %521
  %531 = select i1 %512, i64 %530, i64 %521
  %532 = load i64, ptr %284, align 8
  switch i64 %532, label %537 [
    i64 1, label %533
    i64 4, label %535
  ]
533:                                              ; preds = %529
  %534 = trunc i64 %531 to i8
  store i8 %534, ptr %312, align 1
  br label %538
535:                                              ; preds = %529
  %536 = trunc i64 %531 to i32
  store i32 %536, ptr %312, align 4
  br label %538
537:                                              ; preds = %529
  store i64 %531, ptr %312, align 8
  br label %538
538:                                              ; preds = %537, %535, %533, %526, %522, %515, %510
  %539 = phi i32 [ 0, %515 ], [ 0, %510 ], [ 0, %526 ], [ 0, %522 ], [ 1, %537 ], [ 1, %535 ], [ 1, %533 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %5) #8
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %4)
  br label %1202
540:                                              ; preds = %395
  br i1 %327, label %541, label %575
541:                                              ; preds = %540
  %542 = ptrtoint ptr %326 to i64
  %543 = sub i64 %542, %320
  %544 = getelementptr i8, ptr %319, i64 %543
  %545 = getelementptr i8, ptr @.str, i64 %543
  %546 = getelementptr i8, ptr %319, i64 4
  %547 = load i8, ptr %319, align 1
  %548 = and i8 %547, -33
  %549 = icmp eq i8 %548, 84
  br i1 %549, label %550, label %583
550:                                              ; preds = %541
  %551 = getelementptr inbounds nuw i8, ptr %319, i64 1
  %552 = icmp eq ptr %551, %326
  br i1 %552, label %575, label %553
553:                                              ; preds = %550
  %554 = load i8, ptr %551, align 1
  %555 = and i8 %554, -33
  %556 = icmp eq i8 %555, 82
  br i1 %556, label %557, label %583
557:                                              ; preds = %553
  %558 = getelementptr inbounds nuw i8, ptr %319, i64 2
  %559 = icmp eq ptr %558, %326
  br i1 %559, label %575, label %560
560:                                              ; preds = %557
  %561 = load i8, ptr %558, align 1
  %562 = and i8 %561, -33
  %563 = icmp eq i8 %562, 85
  br i1 %563, label %564, label %583
564:                                              ; preds = %560
  %565 = getelementptr inbounds nuw i8, ptr %319, i64 3
  %566 = icmp eq ptr %565, %326
  br i1 %566, label %575, label %567
567:                                              ; preds = %564
  %568 = load i8, ptr %565, align 1
  %569 = and i8 %568, -33
  %570 = icmp eq i8 %569, 69
  br i1 %570, label %571, label %583
571:                                              ; preds = %567
  %572 = icmp eq ptr %546, %326
  %573 = select i1 %572, ptr %544, ptr %546
  %574 = select i1 %572, ptr %545, ptr getelementptr inbounds nuw (i8, ptr @.str, i64 4)
  br label %575
575:                                              ; preds = %571, %564, %557, %550, %540
  %576 = phi ptr [ %319, %540 ], [ %544, %550 ], [ %544, %557 ], [ %544, %564 ], [ %573, %571 ]
  %577 = phi ptr [ @.str, %540 ], [ %545, %550 ], [ %545, %557 ], [ %545, %564 ], [ %574, %571 ]
  %578 = icmp eq ptr %576, %326
  br i1 %578, label %579, label %583
579:                                              ; preds = %575
  %580 = load i8, ptr %577, align 1
  %581 = icmp eq i8 %580, 0
  br i1 %581, label %582, label %583
582:                                              ; preds = %579
  store i8 1, ptr %312, align 1
  br label %1201
583:                                              ; preds = %579, %575, %567, %560, %553, %541
  %584 = ptrtoint ptr %326 to i64
  %585 = sub i64 %584, %320
  %586 = icmp eq i64 %585, 1
  br i1 %586, label %587, label %637
587:                                              ; preds = %583
  %588 = load i8, ptr %319, align 1
  %589 = icmp eq i8 %588, 49
  %590 = zext i1 %589 to i8
  store i8 %590, ptr %312, align 1
  br i1 %589, label %1201, label %591
591:                                              ; preds = %587
  br i1 %327, label %592, label %629
592:                                              ; preds = %591
  %593 = getelementptr i8, ptr %319, i64 1
  %594 = getelementptr i8, ptr %319, i64 5
  %595 = load i8, ptr %319, align 1
  %596 = and i8 %595, -33
  %597 = icmp eq i8 %596, 70
  br i1 %597, label %598, label %685
598:                                              ; preds = %592
  %599 = icmp eq ptr %593, %326
  br i1 %599, label %633, label %600
600:                                              ; preds = %598
  %601 = load i8, ptr %593, align 1
  %602 = and i8 %601, -33
  %603 = icmp eq i8 %602, 65
  br i1 %603, label %604, label %685
604:                                              ; preds = %600
  %605 = getelementptr i8, ptr %319, i64 2
  %606 = icmp eq ptr %605, %326
  br i1 %606, label %629, label %607
607:                                              ; preds = %604
  %608 = load i8, ptr %605, align 1
  %609 = and i8 %608, -33
  %610 = icmp eq i8 %609, 76
  br i1 %610, label %611, label %685
611:                                              ; preds = %607
  %612 = getelementptr i8, ptr %319, i64 3
  %613 = icmp eq ptr %612, %326
  br i1 %613, label %629, label %614
614:                                              ; preds = %611
  %615 = load i8, ptr %612, align 1
  %616 = and i8 %615, -33
  %617 = icmp eq i8 %616, 83
  br i1 %617, label %618, label %685
618:                                              ; preds = %614
  %619 = getelementptr i8, ptr %319, i64 4
  %620 = icmp eq ptr %619, %326
  br i1 %620, label %629, label %621
621:                                              ; preds = %618
  %622 = load i8, ptr %619, align 1
  %623 = and i8 %622, -33
  %624 = icmp eq i8 %623, 69
  br i1 %624, label %625, label %685
625:                                              ; preds = %621
  %626 = icmp eq ptr %594, %326
  %627 = select i1 %626, ptr %593, ptr %594
  %628 = select i1 %626, ptr getelementptr inbounds nuw (i8, ptr @.str.1, i64 1), ptr getelementptr inbounds nuw (i8, ptr @.str.1, i64 5)
  br label %629
629:                                              ; preds = %625, %618, %611, %604, %591
  %630 = phi ptr [ %319, %591 ], [ %593, %604 ], [ %593, %611 ], [ %593, %618 ], [ %627, %625 ]
  %631 = phi ptr [ @.str.1, %591 ], [ getelementptr inbounds nuw (i8, ptr @.str.1, i64 1), %604 ], [ getelementptr inbounds nuw (i8, ptr @.str.1, i64 1), %611 ], [ getelementptr inbounds nuw (i8, ptr @.str.1, i64 1), %618 ], [ %628, %625 ]
  %632 = icmp eq ptr %630, %326
  br i1 %632, label %633, label %685
633:                                              ; preds = %629, %598
  %634 = phi ptr [ %631, %629 ], [ getelementptr inbounds nuw (i8, ptr @.str.1, i64 1), %598 ]
  %635 = load i8, ptr %634, align 1
  %636 = icmp eq i8 %635, 0
  br i1 %636, label %1201, label %685
637:                                              ; preds = %583
  store i8 0, ptr %312, align 1
  br i1 %327, label %638, label %677
638:                                              ; preds = %637
  %639 = getelementptr i8, ptr %319, i64 %585
  %640 = getelementptr i8, ptr @.str.1, i64 %585
  %641 = getelementptr i8, ptr %319, i64 5
  %642 = load i8, ptr %319, align 1
  %643 = and i8 %642, -33
  %644 = icmp eq i8 %643, 70
  br i1 %644, label %645, label %1200
645:                                              ; preds = %638
  %646 = getelementptr inbounds nuw i8, ptr %319, i64 1
  %647 = icmp eq ptr %646, %326
  br i1 %647, label %677, label %648
648:                                              ; preds = %645
  %649 = load i8, ptr %646, align 1
  %650 = and i8 %649, -33
  %651 = icmp eq i8 %650, 65
  br i1 %651, label %652, label %1200
652:                                              ; preds = %648
  %653 = getelementptr inbounds nuw i8, ptr %319, i64 2
  %654 = icmp eq ptr %653, %326
  br i1 %654, label %677, label %655
655:                                              ; preds = %652
  %656 = load i8, ptr %653, align 1
  %657 = and i8 %656, -33
  %658 = icmp eq i8 %657, 76
  br i1 %658, label %659, label %1200
659:                                              ; preds = %655
  %660 = getelementptr inbounds nuw i8, ptr %319, i64 3
  %661 = icmp eq ptr %660, %326
  br i1 %661, label %677, label %662
662:                                              ; preds = %659
  %663 = load i8, ptr %660, align 1
  %664 = and i8 %663, -33
  %665 = icmp eq i8 %664, 83
  br i1 %665, label %666, label %1200
666:                                              ; preds = %662
  %667 = getelementptr inbounds nuw i8, ptr %319, i64 4
  %668 = icmp eq ptr %667, %326
  br i1 %668, label %677, label %669
669:                                              ; preds = %666
  %670 = load i8, ptr %667, align 1
  %671 = and i8 %670, -33
  %672 = icmp eq i8 %671, 69
  br i1 %672, label %673, label %1200
673:                                              ; preds = %669
  %674 = icmp eq ptr %641, %326
  %675 = select i1 %674, ptr %639, ptr %641
  %676 = select i1 %674, ptr %640, ptr getelementptr inbounds nuw (i8, ptr @.str.1, i64 5)
  br label %677
677:                                              ; preds = %673, %666, %659, %652, %645, %637
  %678 = phi ptr [ %319, %637 ], [ %639, %645 ], [ %639, %652 ], [ %639, %659 ], [ %639, %666 ], [ %675, %673 ]
  %679 = phi ptr [ @.str.1, %637 ], [ %640, %645 ], [ %640, %652 ], [ %640, %659 ], [ %640, %666 ], [ %676, %673 ]
  %680 = icmp eq ptr %678, %326
  br i1 %680, label %681, label %1200
681:                                              ; preds = %677
  %682 = load i8, ptr %679, align 1
  %683 = icmp eq i8 %682, 0
  %684 = zext i1 %683 to i32
  br label %1202
685:                                              ; preds = %633, %629, %621, %614, %607, %600, %592
  %686 = load i8, ptr %319, align 1
  %687 = icmp eq i8 %686, 48
  %688 = zext i1 %687 to i32
  br label %1202
689:                                              ; preds = %395
  %690 = call fastcc i32 @iso_date(ptr noundef %6, ptr noundef %326, ptr noundef %312) #9
  %691 = icmp ne i32 %690, 0
  %692 = load ptr, ptr %6, align 8
  %693 = icmp eq ptr %692, %326
  %694 = select i1 %691, i1 %693, i1 false
  %695 = zext i1 %694 to i32
  br label %1202
696:                                              ; preds = %395
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %2)
  %697 = ptrtoint ptr %326 to i64
  store ptr %319, ptr %2, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %3) #8
  %698 = call fastcc i32 @iso_date(ptr noundef %2, ptr noundef %326, ptr noundef nonnull %3) #9
  %699 = icmp eq i32 %698, 0
  br i1 %699, label %938, label %700
700:                                              ; preds = %696
  %701 = load ptr, ptr %2, align 8
  %702 = ptrtoint ptr %701 to i64
  %703 = icmp ult ptr %701, %326
  br i1 %703, label %704, label %908
704:                                              ; preds = %700
  %705 = load i8, ptr %701, align 1
  switch i8 %705, label %938 [
    i8 84, label %706
    i8 32, label %706
  ]
706:                                              ; preds = %704, %704
  %707 = getelementptr inbounds nuw i8, ptr %701, i64 1
  %708 = icmp ult ptr %707, %326
  br i1 %708, label %709, label %730
709:                                              ; preds = %706
  %710 = getelementptr i8, ptr %701, i64 3
  %711 = load i8, ptr %707, align 1
  %712 = zext i8 %711 to i32
  %713 = add nsw i32 %712, -48
  %714 = and i32 %713, 254
  %715 = icmp samesign ult i32 %714, 10
  br i1 %715, label %725, label %730
716:                                              ; preds = %725
  %717 = load i8, ptr %728, align 1
  %718 = zext i8 %717 to i32
  %719 = add nsw i32 %718, -48
  %720 = and i32 %719, 254
  %721 = icmp samesign ult i32 %720, 10
  br i1 %721, label %722, label %730
722:                                              ; preds = %716
  %723 = mul nsw i32 %713, 10
  %724 = add nsw i32 %719, %723
  br label %730
725:                                              ; preds = %709
  %726 = sub i64 %697, %702
  %727 = getelementptr i8, ptr %701, i64 %726
  %728 = getelementptr inbounds nuw i8, ptr %701, i64 2
  %729 = icmp eq ptr %728, %326
  br i1 %729, label %730, label %716
730:                                              ; preds = %725, %722, %716, %709, %706
  %731 = phi ptr [ %707, %706 ], [ %707, %709 ], [ %727, %725 ], [ %728, %716 ], [ %710, %722 ]
  %732 = phi i32 [ -1, %706 ], [ -1, %709 ], [ -1, %725 ], [ -1, %716 ], [ %724, %722 ]
  %733 = ptrtoint ptr %731 to i64
  %734 = icmp eq ptr %731, %326
  br i1 %734, label %938, label %735
735:                                              ; preds = %730
  %736 = getelementptr inbounds nuw i8, ptr %731, i64 1
  %737 = load i8, ptr %731, align 1
  %738 = icmp eq i8 %737, 58
  br i1 %738, label %739, label %938
739:                                              ; preds = %735
  %740 = icmp ult ptr %736, %326
  br i1 %740, label %741, label %762
741:                                              ; preds = %739
  %742 = getelementptr i8, ptr %731, i64 3
  %743 = load i8, ptr %736, align 1
  %744 = zext i8 %743 to i32
  %745 = add nsw i32 %744, -48
  %746 = and i32 %745, 254
  %747 = icmp samesign ult i32 %746, 10
  br i1 %747, label %757, label %762
748:                                              ; preds = %757
  %749 = load i8, ptr %760, align 1
  %750 = zext i8 %749 to i32
  %751 = add nsw i32 %750, -48
  %752 = and i32 %751, 254
  %753 = icmp samesign ult i32 %752, 10
  br i1 %753, label %754, label %762
754:                                              ; preds = %748
  %755 = mul nsw i32 %745, 10
  %756 = add nsw i32 %751, %755
  br label %762
757:                                              ; preds = %741
  %758 = sub i64 %697, %733
  %759 = getelementptr i8, ptr %731, i64 %758
  %760 = getelementptr inbounds nuw i8, ptr %731, i64 2
  %761 = icmp eq ptr %760, %326
  br i1 %761, label %762, label %748
762:                                              ; preds = %757, %754, %748, %741, %739
  %763 = phi ptr [ %736, %739 ], [ %736, %741 ], [ %759, %757 ], [ %760, %748 ], [ %742, %754 ]
  %764 = phi i32 [ -1, %739 ], [ -1, %741 ], [ -1, %757 ], [ -1, %748 ], [ %756, %754 ]
  %765 = ptrtoint ptr %763 to i64
  store ptr %763, ptr %2, align 8
  %766 = icmp ult ptr %763, %326
  br i1 %766, label %767, label %838
767:                                              ; preds = %762
  %768 = load i8, ptr %763, align 1
  %769 = icmp eq i8 %768, 58
  br i1 %769, label %770, label %838
770:                                              ; preds = %767
  %771 = getelementptr inbounds nuw i8, ptr %763, i64 1
  store ptr %771, ptr %2, align 8
  %772 = icmp ult ptr %771, %326
  br i1 %772, label %773, label %794
773:                                              ; preds = %770
  %774 = getelementptr i8, ptr %763, i64 3
  %775 = load i8, ptr %771, align 1
  %776 = zext i8 %775 to i32
  %777 = add nsw i32 %776, -48
  %778 = and i32 %777, 254
  %779 = icmp samesign ult i32 %778, 10
  br i1 %779, label %789, label %794
780:                                              ; preds = %789
  %781 = load i8, ptr %792, align 1
  %782 = zext i8 %781 to i32
  %783 = add nsw i32 %782, -48
  %784 = and i32 %783, 254
  %785 = icmp samesign ult i32 %784, 10
  br i1 %785, label %786, label %794
786:                                              ; preds = %780
  %787 = mul nsw i32 %777, 10
  %788 = add nsw i32 %783, %787
  br label %794
789:                                              ; preds = %773
  %790 = sub i64 %697, %765
  %791 = getelementptr i8, ptr %763, i64 %790
  %792 = getelementptr inbounds nuw i8, ptr %763, i64 2
  %793 = icmp eq ptr %792, %326
  br i1 %793, label %794, label %780
794:                                              ; preds = %789, %786, %780, %773, %770
  %795 = phi ptr [ %771, %770 ], [ %771, %773 ], [ %791, %789 ], [ %792, %780 ], [ %774, %786 ]
  %796 = phi i32 [ -1, %770 ], [ -1, %773 ], [ -1, %789 ], [ -1, %780 ], [ %788, %786 ]
  %797 = ptrtoint ptr %795 to i64
  store ptr %795, ptr %2, align 8
  %798 = icmp ult ptr %795, %326
  br i1 %798, label %799, label %838
799:                                              ; preds = %794
  %800 = load i8, ptr %795, align 1
  %801 = icmp eq i8 %800, 46
  br i1 %801, label %802, label %838
802:                                              ; preds = %799
  %803 = getelementptr inbounds nuw i8, ptr %795, i64 1
  %804 = icmp ult ptr %803, %326
  br i1 %804, label %805, label %938
805:                                              ; preds = %802
  %806 = ptrtoint ptr %803 to i64
  %807 = sub i64 %697, %797
  %808 = getelementptr i8, ptr %795, i64 %807
  br label %809
809:                                              ; preds = %823, %805
  %810 = phi ptr [ %803, %805 ], [ %829, %823 ]
  %811 = phi i64 [ 0, %805 ], [ %827, %823 ]
  %812 = phi i64 [ 1000000000, %805 ], [ %825, %823 ]
  %813 = phi i64 [ 1, %805 ], [ %828, %823 ]
  %814 = load i8, ptr %810, align 1
  %815 = zext i8 %814 to i32
  %816 = add nsw i32 %815, -48
  %817 = and i32 %816, 254
  %818 = icmp samesign ult i32 %817, 10
  %819 = ptrtoint ptr %810 to i64
  %820 = sub i64 %819, %806
  %821 = icmp slt i64 %820, 9
  %822 = and i1 %821, %818
  br i1 %822, label %823, label %831
823:                                              ; preds = %809
  %824 = sext i32 %816 to i64
  %825 = sdiv i64 %812, 10
  %826 = mul nsw i64 %825, %824
  %827 = add nsw i64 %826, %811
  %828 = add nuw nsw i64 %813, 1
  %829 = getelementptr inbounds nuw i8, ptr %795, i64 %828
  %830 = icmp eq i64 %828, %807
  br i1 %830, label %831, label %809
831:                                              ; preds = %823, %809
  %832 = phi ptr [ %808, %823 ], [ %810, %809 ]
  %833 = phi i64 [ %807, %823 ], [ %813, %809 ]
  %834 = phi i64 [ %827, %823 ], [ %811, %809 ]
  %835 = icmp eq i64 %833, 1
  store ptr %832, ptr %2, align 8
  br i1 %835, label %938, label %836
836:                                              ; preds = %831
  %837 = ptrtoint ptr %832 to i64
  br label %838
838:                                              ; preds = %836, %799, %794, %767, %762
  %839 = phi i64 [ %837, %836 ], [ %797, %794 ], [ %797, %799 ], [ %765, %767 ], [ %765, %762 ]
  %840 = phi ptr [ %832, %836 ], [ %795, %794 ], [ %795, %799 ], [ %763, %767 ], [ %763, %762 ]
  %841 = phi i32 [ %796, %836 ], [ %796, %794 ], [ %796, %799 ], [ 0, %767 ], [ 0, %762 ]
  %842 = phi i64 [ %834, %836 ], [ 0, %794 ], [ 0, %799 ], [ 0, %767 ], [ 0, %762 ]
  %843 = sub i64 %697, %839
  switch i64 %843, label %908 [
    i64 1, label %844
    i64 6, label %849
  ]
844:                                              ; preds = %838
  %845 = load i8, ptr %840, align 1
  %846 = icmp eq i8 %845, 90
  %847 = zext i1 %846 to i64
  %848 = getelementptr inbounds nuw i8, ptr %840, i64 %847
  br label %908
849:                                              ; preds = %838
  %850 = load i8, ptr %840, align 1
  switch i8 %850, label %908 [
    i8 43, label %851
    i8 45, label %851
  ]
851:                                              ; preds = %849, %849
  %852 = getelementptr inbounds nuw i8, ptr %840, i64 1
  store ptr %852, ptr %2, align 8
  %853 = icmp eq i8 %850, 45
  %854 = icmp ult ptr %852, %326
  br i1 %854, label %855, label %872
855:                                              ; preds = %851
  %856 = getelementptr i8, ptr %840, i64 3
  %857 = load i8, ptr %852, align 1
  %858 = zext i8 %857 to i32
  %859 = add nsw i32 %858, -48
  %860 = and i32 %859, 254
  %861 = icmp samesign ult i32 %860, 10
  br i1 %861, label %862, label %872
862:                                              ; preds = %855
  %863 = getelementptr inbounds nuw i8, ptr %840, i64 2
  %864 = load i8, ptr %863, align 1
  %865 = zext i8 %864 to i32
  %866 = add nsw i32 %865, -48
  %867 = and i32 %866, 254
  %868 = icmp samesign ult i32 %867, 10
  br i1 %868, label %869, label %872
869:                                              ; preds = %862
  %870 = mul nsw i32 %859, 10
  %871 = add nsw i32 %866, %870
  br label %872
872:                                              ; preds = %869, %862, %855, %851
  %873 = phi ptr [ %852, %851 ], [ %852, %855 ], [ %863, %862 ], [ %856, %869 ]
  %874 = phi i32 [ -1, %851 ], [ -1, %855 ], [ -1, %862 ], [ %871, %869 ]
  %875 = getelementptr inbounds nuw i8, ptr %873, i64 1
  store ptr %875, ptr %2, align 8
  %876 = load i8, ptr %873, align 1
  %877 = icmp eq i8 %876, 58
  %878 = icmp ult ptr %875, %326
  %879 = select i1 %877, i1 %878, i1 false
  br i1 %879, label %880, label %938
880:                                              ; preds = %872
  %881 = getelementptr i8, ptr %873, i64 3
  %882 = load i8, ptr %875, align 1
  %883 = zext i8 %882 to i32
  %884 = add nsw i32 %883, -48
  %885 = and i32 %884, 254
  %886 = icmp samesign ult i32 %885, 10
  br i1 %886, label %893, label %938
887:                                              ; preds = %893
  %888 = load i8, ptr %894, align 1
  %889 = zext i8 %888 to i32
  %890 = add nsw i32 %889, -48
  %891 = and i32 %890, 254
  %892 = icmp samesign ult i32 %891, 10
  br i1 %892, label %896, label %938
893:                                              ; preds = %880
  %894 = getelementptr inbounds nuw i8, ptr %873, i64 2
  %895 = icmp eq ptr %894, %326
  br i1 %895, label %938, label %887
896:                                              ; preds = %887
  %897 = mul nsw i32 %884, 10
  %898 = add nsw i32 %890, %897
  %899 = icmp ult i32 %874, 24
  %900 = icmp ult i32 %898, 60
  %901 = select i1 %899, i1 %900, i1 false
  br i1 %901, label %902, label %938
902:                                              ; preds = %896
  %903 = mul nuw nsw i32 %874, 60
  %904 = add nuw nsw i32 %898, %903
  %905 = select i1 %853, i32 -60, i32 60
  %906 = mul nsw i32 %904, %905
  %907 = sext i32 %906 to i64
  br label %908
908:                                              ; preds = %902, %849, %844, %838, %700
  %909 = phi ptr [ %881, %902 ], [ %701, %700 ], [ %840, %849 ], [ %840, %838 ], [ %848, %844 ]
  %910 = phi i32 [ %764, %902 ], [ 0, %700 ], [ %764, %849 ], [ %764, %838 ], [ %764, %844 ]
  %911 = phi i32 [ %841, %902 ], [ 0, %700 ], [ %841, %849 ], [ %841, %838 ], [ %841, %844 ]
  %912 = phi i32 [ %732, %902 ], [ 0, %700 ], [ %732, %849 ], [ %732, %838 ], [ %732, %844 ]
  %913 = phi i64 [ %907, %902 ], [ 0, %700 ], [ 0, %849 ], [ 0, %838 ], [ 0, %844 ]
  %914 = phi i64 [ %842, %902 ], [ 0, %700 ], [ %842, %849 ], [ %842, %838 ], [ %842, %844 ]
  %915 = icmp ne ptr %909, %326
  %916 = icmp ugt i32 %912, 23
  %917 = select i1 %915, i1 true, i1 %916
  %918 = icmp ugt i32 %910, 59
  %919 = select i1 %917, i1 true, i1 %918
  %920 = icmp ugt i32 %911, 59
  %921 = select i1 %919, i1 true, i1 %920
  br i1 %921, label %938, label %922
922:                                              ; preds = %908
  %923 = load i64, ptr %3, align 8
  %924 = mul nsw i64 %923, 86400
  %925 = mul nuw nsw i32 %912, 3600
  %926 = zext nneg i32 %925 to i64
  %927 = mul nuw nsw i32 %910, 60
  %928 = add nuw nsw i32 %911, %927
  %929 = zext nneg i32 %928 to i64
  %930 = sub nsw i64 %929, %913
  %931 = add nsw i64 %930, %926
  %932 = add i64 %931, %924
  %933 = add i64 %932, -9200000001
  %934 = icmp ult i64 %933, -18400000001
  br i1 %934, label %938, label %935
935:                                              ; preds = %922
  %936 = mul nsw i64 %932, 1000000000
  %937 = add nsw i64 %936, %914
  store i64 %937, ptr %312, align 8
  br label %938
938:                                              ; preds = %935, %922, %908, %896, %893, %887, %880, %872, %831, %802, %735, %730, %704, %696
  %939 = phi i32 [ 0, %831 ], [ 0, %696 ], [ 0, %704 ], [ 0, %735 ], [ 0, %730 ], [ 0, %908 ], [ 1, %935 ], [ 0, %922 ], [ 0, %872 ], [ 0, %896 ], [ 0, %802 ], [ 0, %893 ], [ 0, %880 ], [ 0, %887 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %3) #8
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %2)
  br label %1202
940:                                              ; preds = %395
  %941 = load ptr, ptr %289, align 8
  br label %942
942:                                              ; preds = %1109, %940
  %943 = phi ptr [ %319, %940 ], [ %1110, %1109 ]
  %944 = phi i32 [ 1900, %940 ], [ %1111, %1109 ]
  %945 = phi i32 [ 1, %940 ], [ %1112, %1109 ]
  %946 = phi i32 [ 1, %940 ], [ %1113, %1109 ]
  %947 = phi i32 [ 0, %940 ], [ %1114, %1109 ]
  %948 = phi i32 [ 0, %940 ], [ %1115, %1109 ]
  %949 = phi i32 [ 0, %940 ], [ %1116, %1109 ]
  %950 = phi ptr [ %941, %940 ], [ %1118, %1109 ]
  %951 = load i8, ptr %950, align 1
  switch i8 %951, label %952 [
    i8 0, label %1119
    i8 37, label %958
  ]
952:                                              ; preds = %942
  %953 = icmp eq ptr %943, %326
  br i1 %953, label %1200, label %954
954:                                              ; preds = %952
  %955 = getelementptr inbounds nuw i8, ptr %943, i64 1
  %956 = load i8, ptr %943, align 1
  %957 = icmp eq i8 %956, %951
  br i1 %957, label %1109, label %1200
958:                                              ; preds = %942
  %959 = getelementptr inbounds nuw i8, ptr %950, i64 1
  %960 = load i8, ptr %959, align 1
  switch i8 %960, label %1200 [
    i8 89, label %976
    i8 109, label %973
    i8 100, label %970
    i8 72, label %967
    i8 77, label %964
    i8 83, label %961
  ]
961:                                              ; preds = %958
  %962 = getelementptr i8, ptr %943, i64 2
  %963 = icmp ult ptr %943, %326
  br i1 %963, label %1091, label %1109
964:                                              ; preds = %958
  %965 = getelementptr i8, ptr %943, i64 2
  %966 = icmp ult ptr %943, %326
  br i1 %966, label %1073, label %1109
967:                                              ; preds = %958
  %968 = getelementptr i8, ptr %943, i64 2
  %969 = icmp ult ptr %943, %326
  br i1 %969, label %1055, label %1109
970:                                              ; preds = %958
  %971 = getelementptr i8, ptr %943, i64 2
  %972 = icmp ult ptr %943, %326
  br i1 %972, label %1037, label %1109
973:                                              ; preds = %958
  %974 = getelementptr i8, ptr %943, i64 2
  %975 = icmp ult ptr %943, %326
  br i1 %975, label %1019, label %1109
976:                                              ; preds = %958
  %977 = getelementptr i8, ptr %943, i64 4
  %978 = icmp ult ptr %943, %326
  br i1 %978, label %979, label %1109
979:                                              ; preds = %976
  %980 = load i8, ptr %943, align 1
  %981 = zext i8 %980 to i32
  %982 = add nsw i32 %981, -48
  %983 = and i32 %982, 254
  %984 = icmp samesign ult i32 %983, 10
  br i1 %984, label %985, label %1109
985:                                              ; preds = %979
  %986 = getelementptr inbounds nuw i8, ptr %943, i64 1
  %987 = icmp ult ptr %986, %326
  br i1 %987, label %988, label %1109
988:                                              ; preds = %985
  %989 = load i8, ptr %986, align 1
  %990 = zext i8 %989 to i32
  %991 = add nsw i32 %990, -48
  %992 = and i32 %991, 254
  %993 = icmp samesign ult i32 %992, 10
  br i1 %993, label %994, label %1109
994:                                              ; preds = %988
  %995 = mul nsw i32 %982, 10
  %996 = add nsw i32 %991, %995
  %997 = getelementptr inbounds nuw i8, ptr %943, i64 2
  %998 = icmp ult ptr %997, %326
  br i1 %998, label %999, label %1109
999:                                              ; preds = %994
  %1000 = load i8, ptr %997, align 1
  %1001 = zext i8 %1000 to i32
  %1002 = add nsw i32 %1001, -48
  %1003 = and i32 %1002, 254
  %1004 = icmp samesign ult i32 %1003, 10
  br i1 %1004, label %1005, label %1109
1005:                                             ; preds = %999
  %1006 = mul nsw i32 %996, 10
  %1007 = add nsw i32 %1002, %1006
  %1008 = getelementptr inbounds nuw i8, ptr %943, i64 3
  %1009 = icmp ult ptr %1008, %326
  br i1 %1009, label %1010, label %1109
1010:                                             ; preds = %1005
  %1011 = load i8, ptr %1008, align 1
  %1012 = zext i8 %1011 to i32
  %1013 = add nsw i32 %1012, -48
  %1014 = and i32 %1013, 254
  %1015 = icmp samesign ult i32 %1014, 10
  br i1 %1015, label %1016, label %1109
1016:                                             ; preds = %1010
  %1017 = mul nsw i32 %1007, 10
  %1018 = add nsw i32 %1013, %1017
  br label %1109
1019:                                             ; preds = %973
  %1020 = load i8, ptr %943, align 1
  %1021 = zext i8 %1020 to i32
  %1022 = add nsw i32 %1021, -48
  %1023 = and i32 %1022, 254
  %1024 = icmp samesign ult i32 %1023, 10
  br i1 %1024, label %1025, label %1109
1025:                                             ; preds = %1019
  %1026 = getelementptr inbounds nuw i8, ptr %943, i64 1
  %1027 = icmp ult ptr %1026, %326
  br i1 %1027, label %1028, label %1109
1028:                                             ; preds = %1025
  %1029 = load i8, ptr %1026, align 1
  %1030 = zext i8 %1029 to i32
  %1031 = add nsw i32 %1030, -48
  %1032 = and i32 %1031, 254
  %1033 = icmp samesign ult i32 %1032, 10
  br i1 %1033, label %1034, label %1109
1034:                                             ; preds = %1028
  %1035 = mul nsw i32 %1022, 10
  %1036 = add nsw i32 %1031, %1035
  br label %1109
1037:                                             ; preds = %970
  %1038 = load i8, ptr %943, align 1
  %1039 = zext i8 %1038 to i32
  %1040 = add nsw i32 %1039, -48
  %1041 = and i32 %1040, 254
  %1042 = icmp samesign ult i32 %1041, 10
  br i1 %1042, label %1043, label %1109
1043:                                             ; preds = %1037
  %1044 = getelementptr inbounds nuw i8, ptr %943, i64 1
  %1045 = icmp ult ptr %1044, %326
  br i1 %1045, label %1046, label %1109
1046:                                             ; preds = %1043
  %1047 = load i8, ptr %1044, align 1
  %1048 = zext i8 %1047 to i32
  %1049 = add nsw i32 %1048, -48
  %1050 = and i32 %1049, 254
  %1051 = icmp samesign ult i32 %1050, 10
  br i1 %1051, label %1052, label %1109
1052:                                             ; preds = %1046
  %1053 = mul nsw i32 %1040, 10
  %1054 = add nsw i32 %1049, %1053
  br label %1109
1055:                                             ; preds = %967
  %1056 = load i8, ptr %943, align 1
  %1057 = zext i8 %1056 to i32
  %1058 = add nsw i32 %1057, -48
  %1059 = and i32 %1058, 254
  %1060 = icmp samesign ult i32 %1059, 10
  br i1 %1060, label %1061, label %1109
1061:                                             ; preds = %1055
  %1062 = getelementptr inbounds nuw i8, ptr %943, i64 1
  %1063 = icmp ult ptr %1062, %326
  br i1 %1063, label %1064, label %1109
1064:                                             ; preds = %1061
  %1065 = load i8, ptr %1062, align 1
  %1066 = zext i8 %1065 to i32
  %1067 = add nsw i32 %1066, -48
  %1068 = and i32 %1067, 254
  %1069 = icmp samesign ult i32 %1068, 10
  br i1 %1069, label %1070, label %1109
1070:                                             ; preds = %1064
  %1071 = mul nsw i32 %1058, 10
  %1072 = add nsw i32 %1067, %1071
  br label %1109
1073:                                             ; preds = %964
  %1074 = load i8, ptr %943, align 1
  %1075 = zext i8 %1074 to i32
  %1076 = add nsw i32 %1075, -48
  %1077 = and i32 %1076, 254
  %1078 = icmp samesign ult i32 %1077, 10
  br i1 %1078, label %1079, label %1109
1079:                                             ; preds = %1073
  %1080 = getelementptr inbounds nuw i8, ptr %943, i64 1
  %1081 = icmp ult ptr %1080, %326
  br i1 %1081, label %1082, label %1109
1082:                                             ; preds = %1079
  %1083 = load i8, ptr %1080, align 1
  %1084 = zext i8 %1083 to i32
  %1085 = add nsw i32 %1084, -48
  %1086 = and i32 %1085, 254
  %1087 = icmp samesign ult i32 %1086, 10
  br i1 %1087, label %1088, label %1109
1088:                                             ; preds = %1082
  %1089 = mul nsw i32 %1076, 10
  %1090 = add nsw i32 %1085, %1089
  br label %1109
1091:                                             ; preds = %961
  %1092 = load i8, ptr %943, align 1
  %1093 = zext i8 %1092 to i32
  %1094 = add nsw i32 %1093, -48
  %1095 = and i32 %1094, 254
  %1096 = icmp samesign ult i32 %1095, 10
  br i1 %1096, label %1097, label %1109
1097:                                             ; preds = %1091
  %1098 = getelementptr inbounds nuw i8, ptr %943, i64 1
  %1099 = icmp ult ptr %1098, %326
  br i1 %1099, label %1100, label %1109
1100:                                             ; preds = %1097
  %1101 = load i8, ptr %1098, align 1
  %1102 = zext i8 %1101 to i32
  %1103 = add nsw i32 %1102, -48
  %1104 = and i32 %1103, 254
  %1105 = icmp samesign ult i32 %1104, 10
  br i1 %1105, label %1106, label %1109
1106:                                             ; preds = %1100
  %1107 = mul nsw i32 %1094, 10
  %1108 = add nsw i32 %1103, %1107
  br label %1109
1109:                                             ; preds = %1106, %1100, %1097, %1091, %1088, %1082, %1079, %1073, %1070, %1064, %1061, %1055, %1052, %1046, %1043, %1037, %1034, %1028, %1025, %1019, %1016, %1010, %1005, %999, %994, %988, %985, %979, %976, %973, %970, %967, %964, %961, %954
  %1110 = phi ptr [ %955, %954 ], [ %943, %979 ], [ %943, %976 ], [ %986, %985 ], [ %986, %988 ], [ %997, %994 ], [ %997, %999 ], [ %1008, %1005 ], [ %1008, %1010 ], [ %977, %1016 ], [ %943, %1019 ], [ %943, %973 ], [ %1026, %1025 ], [ %1026, %1028 ], [ %974, %1034 ], [ %943, %1037 ], [ %943, %970 ], [ %1044, %1043 ], [ %1044, %1046 ], [ %971, %1052 ], [ %943, %1055 ], [ %943, %967 ], [ %1062, %1061 ], [ %1062, %1064 ], [ %968, %1070 ], [ %943, %1073 ], [ %943, %964 ], [ %1080, %1079 ], [ %1080, %1082 ], [ %965, %1088 ], [ %943, %1091 ], [ %943, %961 ], [ %1098, %1097 ], [ %1098, %1100 ], [ %962, %1106 ]
  %1111 = phi i32 [ %944, %954 ], [ -1, %979 ], [ -1, %976 ], [ -1, %985 ], [ -1, %988 ], [ -1, %994 ], [ -1, %999 ], [ -1, %1005 ], [ -1, %1010 ], [ %1018, %1016 ], [ %944, %1019 ], [ %944, %973 ], [ %944, %1025 ], [ %944, %1028 ], [ %944, %1034 ], [ %944, %1037 ], [ %944, %970 ], [ %944, %1043 ], [ %944, %1046 ], [ %944, %1052 ], [ %944, %1055 ], [ %944, %967 ], [ %944, %1061 ], [ %944, %1064 ], [ %944, %1070 ], [ %944, %1073 ], [ %944, %964 ], [ %944, %1079 ], [ %944, %1082 ], [ %944, %1088 ], [ %944, %1091 ], [ %944, %961 ], [ %944, %1097 ], [ %944, %1100 ], [ %944, %1106 ]
  %1112 = phi i32 [ %945, %954 ], [ %945, %979 ], [ %945, %976 ], [ %945, %985 ], [ %945, %988 ], [ %945, %994 ], [ %945, %999 ], [ %945, %1005 ], [ %945, %1010 ], [ %945, %1016 ], [ -1, %1019 ], [ -1, %973 ], [ -1, %1025 ], [ -1, %1028 ], [ %1036, %1034 ], [ %945, %1037 ], [ %945, %970 ], [ %945, %1043 ], [ %945, %1046 ], [ %945, %1052 ], [ %945, %1055 ], [ %945, %967 ], [ %945, %1061 ], [ %945, %1064 ], [ %945, %1070 ], [ %945, %1073 ], [ %945, %964 ], [ %945, %1079 ], [ %945, %1082 ], [ %945, %1088 ], [ %945, %1091 ], [ %945, %961 ], [ %945, %1097 ], [ %945, %1100 ], [ %945, %1106 ]
  %1113 = phi i32 [ %946, %954 ], [ %946, %979 ], [ %946, %976 ], [ %946, %985 ], [ %946, %988 ], [ %946, %994 ], [ %946, %999 ], [ %946, %1005 ], [ %946, %1010 ], [ %946, %1016 ], [ %946, %1019 ], [ %946, %973 ], [ %946, %1025 ], [ %946, %1028 ], [ %946, %1034 ], [ -1, %1037 ], [ -1, %970 ], [ -1, %1043 ], [ -1, %1046 ], [ %1054, %1052 ], [ %946, %1055 ], [ %946, %967 ], [ %946, %1061 ], [ %946, %1064 ], [ %946, %1070 ], [ %946, %1073 ], [ %946, %964 ], [ %946, %1079 ], [ %946, %1082 ], [ %946, %1088 ], [ %946, %1091 ], [ %946, %961 ], [ %946, %1097 ], [ %946, %1100 ], [ %946, %1106 ]
  %1114 = phi i32 [ %947, %954 ], [ %947, %979 ], [ %947, %976 ], [ %947, %985 ], [ %947, %988 ], [ %947, %994 ], [ %947, %999 ], [ %947, %1005 ], [ %947, %1010 ], [ %947, %1016 ], [ %947, %1019 ], [ %947, %973 ], [ %947, %1025 ], [ %947, %1028 ], [ %947, %1034 ], [ %947, %1037 ], [ %947, %970 ], [ %947, %1043 ], [ %947, %1046 ], [ %947, %1052 ], [ -1, %1055 ], [ -1, %967 ], [ -1, %1061 ], [ -1, %1064 ], [ %1072, %1070 ], [ %947, %1073 ], [ %947, %964 ], [ %947, %1079 ], [ %947, %1082 ], [ %947, %1088 ], [ %947, %1091 ], [ %947, %961 ], [ %947, %1097 ], [ %947, %1100 ], [ %947, %1106 ]
  %1115 = phi i32 [ %948, %954 ], [ %948, %979 ], [ %948, %976 ], [ %948, %985 ], [ %948, %988 ], [ %948, %994 ], [ %948, %999 ], [ %948, %1005 ], [ %948, %1010 ], [ %948, %1016 ], [ %948, %1019 ], [ %948, %973 ], [ %948, %1025 ], [ %948, %1028 ], [ %948, %1034 ], [ %948, %1037 ], [ %948, %970 ], [ %948, %1043 ], [ %948, %1046 ], [ %948, %1052 ], [ %948, %1055 ], [ %948, %967 ], [ %948, %1061 ], [ %948, %1064 ], [ %948, %1070 ], [ -1, %1073 ], [ -1, %964 ], [ -1, %1079 ], [ -1, %1082 ], [ %1090, %1088 ], [ %948, %1091 ], [ %948, %961 ], [ %948, %1097 ], [ %948, %1100 ], [ %948, %1106 ]
  %1116 = phi i32 [ %949, %954 ], [ %949, %979 ], [ %949, %976 ], [ %949, %985 ], [ %949, %988 ], [ %949, %994 ], [ %949, %999 ], [ %949, %1005 ], [ %949, %1010 ], [ %949, %1016 ], [ %949, %1019 ], [ %949, %973 ], [ %949, %1025 ], [ %949, %1028 ], [ %949, %1034 ], [ %949, %1037 ], [ %949, %970 ], [ %949, %1043 ], [ %949, %1046 ], [ %949, %1052 ], [ %949, %1055 ], [ %949, %967 ], [ %949, %1061 ], [ %949, %1064 ], [ %949, %1070 ], [ %949, %1073 ], [ %949, %964 ], [ %949, %1079 ], [ %949, %1082 ], [ %949, %1088 ], [ -1, %1091 ], [ -1, %961 ], [ -1, %1097 ], [ -1, %1100 ], [ %1108, %1106 ]
  %1117 = phi ptr [ %950, %954 ], [ %959, %979 ], [ %959, %976 ], [ %959, %985 ], [ %959, %988 ], [ %959, %994 ], [ %959, %999 ], [ %959, %1005 ], [ %959, %1010 ], [ %959, %1016 ], [ %959, %1019 ], [ %959, %973 ], [ %959, %1025 ], [ %959, %1028 ], [ %959, %1034 ], [ %959, %1037 ], [ %959, %970 ], [ %959, %1043 ], [ %959, %1046 ], [ %959, %1052 ], [ %959, %1055 ], [ %959, %967 ], [ %959, %1061 ], [ %959, %1064 ], [ %959, %1070 ], [ %959, %1073 ], [ %959, %964 ], [ %959, %1079 ], [ %959, %1082 ], [ %959, %1088 ], [ %959, %1091 ], [ %959, %961 ], [ %959, %1097 ], [ %959, %1100 ], [ %959, %1106 ]
  %1118 = getelementptr inbounds nuw i8, ptr %1117, i64 1
  br label %942
1119:                                             ; preds = %942
  %1120 = icmp ne ptr %943, %326
  %1121 = icmp ugt i32 %947, 23
  %1122 = select i1 %1120, i1 true, i1 %1121
  %1123 = icmp ugt i32 %948, 59
  %1124 = select i1 %1122, i1 true, i1 %1123
  %1125 = icmp ugt i32 %949, 59
  %1126 = select i1 %1124, i1 true, i1 %1125
  br i1 %1126, label %1200, label %1127
1127:                                             ; preds = %1119
  %1128 = add nsw i32 %944, -9999
  %1129 = icmp ult i32 %1128, -9997
  %1130 = add nsw i32 %945, -13
  %1131 = icmp ult i32 %1130, -12
  %1132 = or i1 %1129, %1131
  %1133 = icmp slt i32 %946, 1
  %1134 = or i1 %1133, %1132
  br i1 %1134, label %1200, label %1135
1135:                                             ; preds = %1127
  %1136 = and i32 %944, 3
  %1137 = icmp eq i32 %1136, 0
  br i1 %1137, label %1138, label %1145
1138:                                             ; preds = %1135
  %1139 = trunc nuw i32 %944 to i16
  %1140 = urem i16 %1139, 100
  %1141 = icmp eq i16 %1140, 0
  br i1 %1141, label %1142, label %1145
1142:                                             ; preds = %1138
  %1143 = urem i16 %1139, 400
  %1144 = icmp eq i16 %1143, 0
  br label %1145
1145:                                             ; preds = %1142, %1138, %1135
  %1146 = phi i1 [ false, %1135 ], [ true, %1138 ], [ %1144, %1142 ]
  %1147 = zext nneg i32 %945 to i64
  %1148 = getelementptr inbounds nuw [13 x i16], ptr @days_of.before, i64 0, i64 %1147
  %1149 = load i16, ptr %1148, align 2
  %1150 = sext i16 %1149 to i32
  %1151 = add nsw i32 %945, -1
  %1152 = zext nneg i32 %1151 to i64
  %1153 = getelementptr inbounds nuw [13 x i16], ptr @days_of.before, i64 0, i64 %1152
  %1154 = load i16, ptr %1153, align 2
  %1155 = sext i16 %1154 to i32
  %1156 = icmp eq i32 %945, 2
  %1157 = and i1 %1156, %1146
  %1158 = zext i1 %1157 to i32
  %1159 = add nsw i32 %1158, %1150
  %1160 = sub nsw i32 %1159, %1155
  %1161 = icmp sgt i32 %946, %1160
  br i1 %1161, label %1200, label %1162
1162:                                             ; preds = %1145
  %1163 = add nsw i32 %944, -1
  %1164 = zext nneg i32 %1163 to i64
  %1165 = mul nuw nsw i64 %1164, 365
  %1166 = lshr i32 %1163, 2
  %1167 = zext nneg i32 %1166 to i64
  %1168 = trunc i32 %1163 to i16
  %1169 = udiv i16 %1168, 100
  %1170 = zext nneg i16 %1169 to i64
  %1171 = udiv i16 %1168, 400
  %1172 = zext nneg i16 %1171 to i64
  %1173 = sext i16 %1154 to i64
  %1174 = icmp samesign ugt i32 %945, 2
  %1175 = and i1 %1174, %1146
  %1176 = zext i1 %1175 to i64
  %1177 = zext nneg i32 %946 to i64
  %1178 = add nuw nsw i64 %1167, -719163
  %1179 = add nsw i64 %1178, %1165
  %1180 = add nsw i64 %1179, %1177
  %1181 = sub nsw i64 %1180, %1170
  %1182 = add nsw i64 %1181, %1172
  %1183 = add nsw i64 %1182, %1176
  %1184 = add nsw i64 %1183, %1173
  %1185 = icmp eq i64 %396, 8
  br i1 %1185, label %1198, label %1186
1186:                                             ; preds = %1162
  %1187 = mul nsw i64 %1184, 86400
  %1188 = mul nuw nsw i32 %947, 3600
  %1189 = mul nuw nsw i32 %948, 60
  %1190 = add nuw nsw i32 %1189, %1188
  %1191 = add nuw nsw i32 %1190, %949
  %1192 = zext nneg i32 %1191 to i64
  %1193 = add nsw i64 %1187, %1192
  %1194 = add nsw i64 %1193, -9200000001
  %1195 = icmp ult i64 %1194, -18400000001
  br i1 %1195, label %1200, label %1196
1196:                                             ; preds = %1186
  %1197 = mul nsw i64 %1193, 1000000000
  br label %1198
1198:                                             ; preds = %1196, %1162
  %1199 = phi i64 [ %1197, %1196 ], [ %1184, %1162 ]
  store i64 %1199, ptr %312, align 8
  br label %1201
1200:                                             ; preds = %1186, %1145, %1127, %1119, %677, %669, %662, %655, %648, %638, %381, %406, %958, %954, %952
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #8
  br label %1209
1201:                                             ; preds = %457, %386, %1198, %633, %587, %582, %403, %384, %370
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #8
  br label %1205
1202:                                             ; preds = %938, %689, %685, %681, %538, %475, %461
  %1203 = phi i32 [ %939, %938 ], [ %695, %689 ], [ %539, %538 ], [ %476, %475 ], [ %462, %461 ], [ %688, %685 ], [ %684, %681 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #8
  %1204 = icmp eq i32 %1203, 0
  br i1 %1204, label %1209, label %1205
1205:                                             ; preds = %1202, %1201
  %1206 = add nsw i64 %292, 1
  %1207 = load i64, ptr %274, align 8
  %1208 = icmp slt i64 %1206, %1207
  br i1 %1208, label %291, label %1209
1209:                                             ; preds = %264, %1205, %1202, %1200, %271, %207, %205
  %1210 = phi i64 [ %206, %205 ], [ 0, %207 ], [ %292, %1200 ], [ %273, %271 ], [ %292, %1202 ], [ %1206, %1205 ], [ 0, %264 ]
  ret i64 %1210
}
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #1
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #2
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #1
define internal fastcc range(i32 0, 4) i32 @space(ptr noundef %0, ptr noundef %1) unnamed_addr #3 {
  %3 = load i8, ptr %0, align 1
  %4 = icmp sgt i8 %3, -1
  br i1 %4, label %5, label %14
5:                                                ; preds = %2
  %6 = icmp eq i8 %3, 32
  %7 = add nsw i8 %3, -9
  %8 = icmp ult i8 %7, 5
  %9 = select i1 %6, i1 true, i1 %8
  %10 = and i8 %3, 124
  %11 = icmp eq i8 %10, 28
  %12 = or i1 %11, %9
  %13 = zext i1 %12 to i32
  br label %67
14:                                               ; preds = %2
  %15 = ptrtoint ptr %1 to i64
  %16 = ptrtoint ptr %0 to i64
  %17 = sub i64 %15, %16
  %18 = icmp sgt i64 %17, 1
  %19 = icmp eq i8 %3, -62
  %20 = and i1 %18, %19
  br i1 %20, label %21, label %28
21:                                               ; preds = %14
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 1
  %23 = load i8, ptr %22, align 1
  %24 = icmp eq i8 %23, -123
  %25 = icmp eq i8 %23, -96
  %26 = or i1 %24, %25
  %27 = select i1 %26, i32 2, i32 0
  br label %67
28:                                               ; preds = %14
  %29 = icmp slt i64 %17, 3
  br i1 %29, label %67, label %30
30:                                               ; preds = %28
  switch i8 %3, label %67 [
    i8 -30, label %31
    i8 -31, label %44
    i8 -29, label %58
  ]
31:                                               ; preds = %30
  %32 = getelementptr inbounds nuw i8, ptr %0, i64 1
  %33 = load i8, ptr %32, align 1
  switch i8 %33, label %56 [
    i8 -128, label %34
    i8 -127, label %52
  ]
34:                                               ; preds = %31
  %35 = getelementptr inbounds nuw i8, ptr %0, i64 2
  %36 = load i8, ptr %35, align 1
  %37 = icmp slt i8 %36, -117
  %38 = and i8 %36, -2
  %39 = icmp eq i8 %38, -88
  %40 = or i1 %37, %39
  br i1 %40, label %67, label %41
41:                                               ; preds = %34
  %42 = icmp eq i8 %36, -81
  %43 = select i1 %42, i32 3, i32 0
  br label %67
44:                                               ; preds = %30
  %45 = getelementptr inbounds nuw i8, ptr %0, i64 1
  %46 = load i8, ptr %45, align 1
  %47 = icmp eq i8 %46, -102
  br i1 %47, label %48, label %57
48:                                               ; preds = %44
  %49 = getelementptr inbounds nuw i8, ptr %0, i64 2
  %50 = load i8, ptr %49, align 1
  %51 = icmp eq i8 %50, -128
  br i1 %51, label %67, label %57
52:                                               ; preds = %31
  %53 = getelementptr inbounds nuw i8, ptr %0, i64 2
  %54 = load i8, ptr %53, align 1
  %55 = icmp eq i8 %54, -97
  br i1 %55, label %67, label %56
56:                                               ; preds = %31, %52
  br label %67
57:                                               ; preds = %48, %44
  br label %67
58:                                               ; preds = %30
  %59 = getelementptr inbounds nuw i8, ptr %0, i64 1
  %60 = load i8, ptr %59, align 1
  %61 = icmp eq i8 %60, -128
  br i1 %61, label %62, label %67
62:                                               ; preds = %58
  %63 = getelementptr inbounds nuw i8, ptr %0, i64 2
  %64 = load i8, ptr %63, align 1
  %65 = icmp eq i8 %64, -128
  %66 = select i1 %65, i32 3, i32 0
  br label %67
67:                                               ; preds = %30, %57, %56, %58, %62, %48, %52, %41, %34, %28, %21, %5
  %68 = phi i32 [ %13, %5 ], [ %27, %21 ], [ 0, %28 ], [ %43, %41 ], [ 3, %34 ], [ 3, %52 ], [ 3, %48 ], [ 0, %58 ], [ %66, %62 ], [ 0, %56 ], [ 0, %57 ], [ 0, %30 ]
  ret i32 %68
}
define internal fastcc range(i32 0, 2) i32 @real(ptr nocapture noundef readonly %0, ptr noundef %1, ptr noundef %2, ptr nocapture noundef writeonly %3) unnamed_addr #4 {
  %5 = ptrtoint ptr %2 to i64
  %6 = alloca ptr, align 8
  %7 = alloca %union.anon, align 8
  %8 = alloca i64, align 8
  store ptr %1, ptr %6, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %7) #8
  %9 = icmp ult ptr %1, %2
  br i1 %9, label %10, label %16
10:                                               ; preds = %4
  %11 = load i8, ptr %1, align 1
  switch i8 %11, label %16 [
    i8 45, label %12
    i8 43, label %12
  ]
12:                                               ; preds = %10, %10
  %13 = getelementptr inbounds nuw i8, ptr %1, i64 1
  store ptr %13, ptr %6, align 8
  %14 = icmp eq i8 %11, 45
  %15 = select i1 %14, i32 -1, i32 1
  br label %43
16:                                               ; preds = %10, %4
  %17 = ptrtoint ptr %1 to i64
  %18 = sub i64 %5, %17
  %19 = icmp sgt i64 %18, 1
  br i1 %19, label %20, label %43
20:                                               ; preds = %16
  %21 = load i8, ptr %1, align 1
  %22 = icmp eq i8 %21, -62
  br i1 %22, label %23, label %29
23:                                               ; preds = %20
  %24 = getelementptr inbounds nuw i8, ptr %1, i64 1
  %25 = load i8, ptr %24, align 1
  %26 = icmp eq i8 %25, -81
  br i1 %26, label %27, label %43
27:                                               ; preds = %23
  %28 = getelementptr inbounds nuw i8, ptr %1, i64 2
  store ptr %28, ptr %6, align 8
  br label %43
29:                                               ; preds = %20
  %30 = icmp ne i64 %18, 2
  %31 = icmp eq i8 %21, -30
  %32 = and i1 %30, %31
  br i1 %32, label %33, label %43
33:                                               ; preds = %29
  %34 = getelementptr inbounds nuw i8, ptr %1, i64 1
  %35 = load i8, ptr %34, align 1
  %36 = icmp eq i8 %35, -120
  br i1 %36, label %37, label %43
37:                                               ; preds = %33
  %38 = getelementptr inbounds nuw i8, ptr %1, i64 2
  %39 = load i8, ptr %38, align 1
  %40 = icmp eq i8 %39, -110
  br i1 %40, label %41, label %43
41:                                               ; preds = %37
  %42 = getelementptr inbounds nuw i8, ptr %1, i64 3
  store ptr %42, ptr %6, align 8
  br label %43
43:                                               ; preds = %12, %16, %23, %27, %29, %33, %37, %41
  %44 = phi ptr [ %13, %12 ], [ %28, %27 ], [ %42, %41 ], [ %1, %37 ], [ %1, %33 ], [ %1, %29 ], [ %1, %16 ], [ %1, %23 ]
  %45 = phi i32 [ %15, %12 ], [ -1, %27 ], [ -1, %41 ], [ 0, %37 ], [ 0, %33 ], [ 0, %29 ], [ 0, %16 ], [ 0, %23 ]
  %46 = icmp eq ptr %44, %2
  br i1 %46, label %298, label %47
47:                                               ; preds = %43
  %48 = icmp ult ptr %44, %2
  br i1 %48, label %49, label %77
49:                                               ; preds = %47
  %50 = ptrtoint ptr %44 to i64
  %51 = sub i64 %5, %50
  %52 = getelementptr i8, ptr %44, i64 %51
  %53 = getelementptr i8, ptr @.str.2, i64 %51
  %54 = getelementptr i8, ptr %44, i64 3
  %55 = load i8, ptr %44, align 1
  %56 = and i8 %55, -33
  %57 = icmp eq i8 %56, 73
  br i1 %57, label %58, label %84
58:                                               ; preds = %49
  %59 = getelementptr inbounds nuw i8, ptr %44, i64 1
  %60 = icmp eq ptr %59, %2
  br i1 %60, label %77, label %61
61:                                               ; preds = %58
  %62 = load i8, ptr %59, align 1
  %63 = and i8 %62, -33
  %64 = icmp eq i8 %63, 78
  br i1 %64, label %65, label %84
65:                                               ; preds = %61
  %66 = getelementptr inbounds nuw i8, ptr %44, i64 2
  %67 = icmp eq ptr %66, %2
  br i1 %67, label %77, label %68
68:                                               ; preds = %65
  %69 = load i8, ptr %66, align 1
  %70 = and i8 %69, -33
  %71 = icmp eq i8 %70, 70
  br i1 %71, label %72, label %84
72:                                               ; preds = %68
  %73 = getelementptr inbounds nuw i8, ptr %44, i64 3
  %74 = icmp eq ptr %73, %2
  %75 = select i1 %74, ptr %52, ptr %54
  %76 = select i1 %74, ptr %53, ptr getelementptr inbounds nuw (i8, ptr @.str.2, i64 3)
  br label %77
77:                                               ; preds = %72, %58, %65, %47
  %78 = phi ptr [ %44, %47 ], [ %52, %58 ], [ %52, %65 ], [ %75, %72 ]
  %79 = phi ptr [ @.str.2, %47 ], [ %53, %58 ], [ %53, %65 ], [ %76, %72 ]
  %80 = icmp eq ptr %78, %2
  br i1 %80, label %81, label %84
81:                                               ; preds = %77
  %82 = load i8, ptr %79, align 1
  %83 = icmp eq i8 %82, 0
  br i1 %83, label %122, label %84
84:                                               ; preds = %49, %61, %68, %77, %81
  %85 = icmp eq i32 %45, 0
  br i1 %85, label %86, label %130
86:                                               ; preds = %84
  br i1 %48, label %87, label %115
87:                                               ; preds = %86
  %88 = ptrtoint ptr %44 to i64
  %89 = sub i64 %5, %88
  %90 = getelementptr i8, ptr %44, i64 %89
  %91 = getelementptr i8, ptr @.str.3, i64 %89
  %92 = getelementptr i8, ptr %44, i64 3
  %93 = load i8, ptr %44, align 1
  %94 = and i8 %93, -33
  %95 = icmp eq i8 %94, 78
  br i1 %95, label %96, label %130
96:                                               ; preds = %87
  %97 = getelementptr inbounds nuw i8, ptr %44, i64 1
  %98 = icmp eq ptr %97, %2
  br i1 %98, label %115, label %99
99:                                               ; preds = %96
  %100 = load i8, ptr %97, align 1
  %101 = and i8 %100, -33
  %102 = icmp eq i8 %101, 65
  br i1 %102, label %103, label %130
103:                                              ; preds = %99
  %104 = getelementptr inbounds nuw i8, ptr %44, i64 2
  %105 = icmp eq ptr %104, %2
  br i1 %105, label %115, label %106
106:                                              ; preds = %103
  %107 = load i8, ptr %104, align 1
  %108 = and i8 %107, -33
  %109 = icmp eq i8 %108, 78
  br i1 %109, label %110, label %130
110:                                              ; preds = %106
  %111 = getelementptr inbounds nuw i8, ptr %44, i64 3
  %112 = icmp eq ptr %111, %2
  %113 = select i1 %112, ptr %90, ptr %92
  %114 = select i1 %112, ptr %91, ptr getelementptr inbounds nuw (i8, ptr @.str.3, i64 3)
  br label %115
115:                                              ; preds = %110, %96, %103, %86
  %116 = phi ptr [ %44, %86 ], [ %90, %96 ], [ %90, %103 ], [ %113, %110 ]
  %117 = phi ptr [ @.str.3, %86 ], [ %91, %96 ], [ %91, %103 ], [ %114, %110 ]
  %118 = icmp eq ptr %116, %2
  br i1 %118, label %119, label %130
119:                                              ; preds = %115
  %120 = load i8, ptr %117, align 1
  %121 = icmp eq i8 %120, 0
  br i1 %121, label %122, label %130
122:                                              ; preds = %119, %81
  %123 = load i8, ptr %44, align 1
  %124 = and i8 %123, -33
  %125 = icmp eq i8 %124, 73
  %126 = icmp slt i32 %45, 0
  %127 = select i1 %125, double 0x7FF0000000000000, double 0x7FF8000000000000
  %128 = fneg double %127
  %129 = select i1 %126, double %128, double %127
  store double %129, ptr %3, align 8
  br label %298
130:                                              ; preds = %87, %99, %106, %115, %119, %84
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %8) #8
  store i64 0, ptr %8, align 8
  %131 = call fastcc i32 @digits_of(ptr noundef %0, ptr noundef %6, ptr noundef %2, ptr noundef %8) #9
  %132 = load ptr, ptr %6, align 8
  %133 = ptrtoint ptr %132 to i64
  %134 = ptrtoint ptr %44 to i64
  %135 = sub i64 %133, %134
  %136 = icmp slt i32 %131, 0
  br i1 %136, label %296, label %137
137:                                              ; preds = %130
  %138 = icmp ult ptr %132, %2
  br i1 %138, label %139, label %182
139:                                              ; preds = %137
  %140 = load i8, ptr %132, align 1
  %141 = zext i8 %140 to i64
  %142 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %143 = load i64, ptr %142, align 8
  %144 = icmp eq i64 %143, %141
  br i1 %144, label %145, label %182
145:                                              ; preds = %139
  %146 = getelementptr inbounds nuw i8, ptr %132, i64 1
  %147 = load i64, ptr %8, align 8
  %148 = icmp ult ptr %146, %2
  br i1 %148, label %149, label %171
149:                                              ; preds = %145
  %150 = sub i64 %5, %133
  %151 = getelementptr i8, ptr %132, i64 %150
  br label %152
152:                                              ; preds = %149, %167
  %153 = phi i32 [ %168, %167 ], [ %131, %149 ]
  %154 = phi ptr [ %169, %167 ], [ %146, %149 ]
  %155 = phi i64 [ %162, %167 ], [ %147, %149 ]
  %156 = load i8, ptr %154, align 1
  %157 = add i8 %156, -48
  %158 = icmp ult i8 %157, 10
  br i1 %158, label %159, label %171
159:                                              ; preds = %152
  %160 = mul i64 %155, 10
  %161 = zext nneg i8 %157 to i64
  %162 = add i64 %160, %161
  %163 = icmp eq i64 %162, 0
  br i1 %163, label %167, label %164
164:                                              ; preds = %159
  %165 = add nsw i32 %153, 1
  %166 = icmp sgt i32 %153, 18
  br i1 %166, label %296, label %167
167:                                              ; preds = %159, %164
  %168 = phi i32 [ %165, %164 ], [ %153, %159 ]
  %169 = getelementptr inbounds nuw i8, ptr %154, i64 1
  %170 = icmp eq ptr %169, %2
  br i1 %170, label %171, label %152
171:                                              ; preds = %152, %167, %145
  %172 = phi i64 [ %147, %145 ], [ %162, %167 ], [ %155, %152 ]
  %173 = phi ptr [ %146, %145 ], [ %151, %167 ], [ %154, %152 ]
  store ptr %173, ptr %6, align 8
  store i64 %172, ptr %8, align 8
  %174 = ptrtoint ptr %173 to i64
  %175 = ptrtoint ptr %146 to i64
  %176 = sub i64 %174, %175
  %177 = icmp sgt i64 %176, 400
  br i1 %177, label %296, label %178
178:                                              ; preds = %171
  %179 = add nsw i64 %176, %135
  %180 = trunc i64 %176 to i32
  %181 = sub nsw i32 0, %180
  br label %182
182:                                              ; preds = %178, %139, %137
  %183 = phi ptr [ %173, %178 ], [ %132, %139 ], [ %132, %137 ]
  %184 = phi i64 [ %179, %178 ], [ %135, %139 ], [ %135, %137 ]
  %185 = phi i32 [ %181, %178 ], [ 0, %139 ], [ 0, %137 ]
  %186 = icmp eq i64 %184, 0
  br i1 %186, label %296, label %187
187:                                              ; preds = %182
  %188 = ptrtoint ptr %183 to i64
  %189 = icmp ult ptr %183, %2
  br i1 %189, label %190, label %260
190:                                              ; preds = %187
  %191 = load i8, ptr %183, align 1
  %192 = and i8 %191, -33
  %193 = icmp eq i8 %192, 69
  br i1 %193, label %194, label %260
194:                                              ; preds = %190
  %195 = getelementptr inbounds nuw i8, ptr %183, i64 1
  store ptr %195, ptr %6, align 8
  %196 = icmp ult ptr %195, %2
  br i1 %196, label %197, label %203
197:                                              ; preds = %194
  %198 = load i8, ptr %195, align 1
  %199 = icmp eq i8 %198, 45
  br i1 %199, label %203, label %200
200:                                              ; preds = %197
  %201 = icmp eq i8 %198, 43
  %202 = zext i1 %201 to i64
  br label %203
203:                                              ; preds = %194, %197, %200
  %204 = phi i1 [ true, %197 ], [ false, %200 ], [ false, %194 ]
  %205 = phi i64 [ 1, %197 ], [ %202, %200 ], [ 0, %194 ]
  %206 = getelementptr inbounds nuw i8, ptr %195, i64 %205
  %207 = icmp ult ptr %206, %2
  br i1 %207, label %208, label %296
208:                                              ; preds = %203
  %209 = sub i64 %5, %188
  %210 = getelementptr i8, ptr %183, i64 %209
  %211 = load i8, ptr %206, align 1
  %212 = zext i8 %211 to i32
  %213 = add nsw i32 %212, -48
  %214 = and i32 %213, 254
  %215 = icmp samesign ult i32 %214, 10
  br i1 %215, label %216, label %253
216:                                              ; preds = %208
  %217 = getelementptr inbounds nuw i8, ptr %206, i64 1
  %218 = icmp ult ptr %217, %2
  br i1 %218, label %219, label %253
219:                                              ; preds = %216
  %220 = load i8, ptr %217, align 1
  %221 = zext i8 %220 to i32
  %222 = add nsw i32 %221, -48
  %223 = and i32 %222, 254
  %224 = icmp samesign ult i32 %223, 10
  br i1 %224, label %225, label %253
225:                                              ; preds = %219
  %226 = mul nsw i32 %213, 10
  %227 = add nsw i32 %222, %226
  %228 = getelementptr inbounds nuw i8, ptr %206, i64 2
  %229 = icmp ult ptr %228, %2
  br i1 %229, label %230, label %253
230:                                              ; preds = %225
  %231 = load i8, ptr %228, align 1
  %232 = zext i8 %231 to i32
  %233 = add nsw i32 %232, -48
  %234 = and i32 %233, 254
  %235 = icmp samesign ult i32 %234, 10
  br i1 %235, label %236, label %253
236:                                              ; preds = %230
  %237 = mul nsw i32 %227, 10
  %238 = add nsw i32 %233, %237
  %239 = getelementptr inbounds nuw i8, ptr %206, i64 3
  %240 = icmp ult ptr %239, %2
  br i1 %240, label %241, label %253
241:                                              ; preds = %236
  %242 = load i8, ptr %239, align 1
  %243 = zext i8 %242 to i32
  %244 = add nsw i32 %243, -48
  %245 = and i32 %244, 254
  %246 = icmp samesign ult i32 %245, 10
  br i1 %246, label %247, label %253
247:                                              ; preds = %241
  %248 = mul nsw i32 %238, 10
  %249 = add nsw i32 %244, %248
  %250 = getelementptr inbounds nuw i8, ptr %206, i64 4
  %251 = icmp ult ptr %250, %2
  %252 = select i1 %251, ptr %250, ptr %210
  br label %253
253:                                              ; preds = %247, %241, %236, %230, %225, %219, %216, %208
  %254 = phi ptr [ %210, %216 ], [ %206, %208 ], [ %217, %219 ], [ %210, %225 ], [ %228, %230 ], [ %210, %236 ], [ %239, %241 ], [ %252, %247 ]
  %255 = phi i32 [ %213, %216 ], [ 0, %208 ], [ %213, %219 ], [ %227, %225 ], [ %227, %230 ], [ %238, %236 ], [ %238, %241 ], [ %249, %247 ]
  %256 = icmp eq ptr %254, %206
  %257 = sub nsw i32 0, %255
  %258 = select i1 %204, i32 %257, i32 %255
  %259 = add nsw i32 %258, %185
  br i1 %256, label %296, label %260
260:                                              ; preds = %253, %190, %187
  %261 = phi ptr [ %254, %253 ], [ %183, %190 ], [ %183, %187 ]
  %262 = phi i32 [ %259, %253 ], [ %185, %190 ], [ %185, %187 ]
  %263 = icmp eq ptr %261, %2
  br i1 %263, label %264, label %296
264:                                              ; preds = %260
  %265 = load i64, ptr %8, align 8
  %266 = icmp eq i64 %265, 0
  br i1 %266, label %291, label %267
267:                                              ; preds = %264
  %268 = icmp ult i64 %265, 9007199254740993
  %269 = add i32 %262, 22
  %270 = icmp ult i32 %269, 45
  %271 = select i1 %268, i1 %270, i1 false
  br i1 %271, label %272, label %286
272:                                              ; preds = %267
  %273 = icmp slt i32 %262, 0
  %274 = uitofp nneg i64 %265 to double
  br i1 %273, label %275, label %281
275:                                              ; preds = %272
  %276 = sub nsw i32 0, %262
  %277 = zext nneg i32 %276 to i64
  %278 = getelementptr inbounds nuw [23 x double], ptr @real.tens, i64 0, i64 %277
  %279 = load double, ptr %278, align 8
  %280 = fdiv double %274, %279
  br label %291
281:                                              ; preds = %272
  %282 = zext nneg i32 %262 to i64
  %283 = getelementptr inbounds nuw [23 x double], ptr @real.tens, i64 0, i64 %282
  %284 = load double, ptr %283, align 8
  %285 = fmul double %284, %274
  br label %291
286:                                              ; preds = %267
  %287 = call fastcc i32 @scaled(ptr noundef %0, i64 noundef %265, i32 noundef %262, ptr noundef %7) #9
  %288 = icmp eq i32 %287, 0
  br i1 %288, label %296, label %289
289:                                              ; preds = %286
  %290 = load double, ptr %7, align 8
  br label %291
291:                                              ; preds = %275, %281, %264, %289
  %292 = phi double [ %290, %289 ], [ 0.000000e+00, %264 ], [ %280, %275 ], [ %285, %281 ]
  %293 = icmp slt i32 %45, 0
  %294 = fneg double %292
  %295 = select i1 %293, double %294, double %292
  store double %295, ptr %3, align 8
  br label %296
296:                                              ; preds = %164, %203, %171, %286, %260, %182, %130, %253, %291
  %297 = phi i32 [ 1, %291 ], [ 0, %253 ], [ 0, %130 ], [ 0, %182 ], [ 0, %260 ], [ 0, %286 ], [ 0, %171 ], [ 0, %203 ], [ 0, %164 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #8
  br label %298
298:                                              ; preds = %43, %296, %122
  %299 = phi i32 [ 1, %122 ], [ %297, %296 ], [ 0, %43 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #8
  ret i32 %299
}
define internal fastcc range(i32 0, 2) i32 @iso_date(ptr nocapture noundef nonnull %0, ptr noundef readnone %1, ptr nocapture noundef writeonly %2) unnamed_addr #5 {
  %4 = load ptr, ptr %0, align 8
  %5 = icmp ult ptr %4, %1
  br i1 %5, label %6, label %162
6:                                                ; preds = %3
  %7 = load i8, ptr %4, align 1
  %8 = zext i8 %7 to i32
  %9 = add nsw i32 %8, -48
  %10 = and i32 %9, 254
  %11 = icmp samesign ult i32 %10, 10
  br i1 %11, label %12, label %162
12:                                               ; preds = %6
  %13 = getelementptr inbounds nuw i8, ptr %4, i64 1
  store ptr %13, ptr %0, align 8
  %14 = icmp ult ptr %13, %1
  br i1 %14, label %15, label %162
15:                                               ; preds = %12
  %16 = load i8, ptr %13, align 1
  %17 = zext i8 %16 to i32
  %18 = add nsw i32 %17, -48
  %19 = and i32 %18, 254
  %20 = icmp samesign ult i32 %19, 10
  br i1 %20, label %21, label %162
21:                                               ; preds = %15
  %22 = mul nsw i32 %9, 10
  %23 = add nsw i32 %18, %22
  %24 = getelementptr inbounds nuw i8, ptr %4, i64 2
  store ptr %24, ptr %0, align 8
  %25 = icmp ult ptr %24, %1
  br i1 %25, label %26, label %162
26:                                               ; preds = %21
  %27 = load i8, ptr %24, align 1
  %28 = zext i8 %27 to i32
  %29 = add nsw i32 %28, -48
  %30 = and i32 %29, 254
  %31 = icmp samesign ult i32 %30, 10
  br i1 %31, label %32, label %162
32:                                               ; preds = %26
  %33 = mul nsw i32 %23, 10
  %34 = add nsw i32 %29, %33
  %35 = getelementptr inbounds nuw i8, ptr %4, i64 3
  store ptr %35, ptr %0, align 8
  %36 = icmp ult ptr %35, %1
  br i1 %36, label %37, label %162
37:                                               ; preds = %32
  %38 = load i8, ptr %35, align 1
  %39 = zext i8 %38 to i32
  %40 = add nsw i32 %39, -48
  %41 = and i32 %40, 254
  %42 = icmp samesign ult i32 %41, 10
  br i1 %42, label %43, label %162
43:                                               ; preds = %37
  %44 = mul nsw i32 %34, 10
  %45 = add nsw i32 %40, %44
  %46 = getelementptr inbounds nuw i8, ptr %4, i64 4
  store ptr %46, ptr %0, align 8
  %47 = icmp slt i32 %45, 0
  %48 = icmp eq ptr %46, %1
  %49 = select i1 %47, i1 true, i1 %48
  br i1 %49, label %162, label %50
50:                                               ; preds = %43
  %51 = getelementptr inbounds nuw i8, ptr %4, i64 5
  store ptr %51, ptr %0, align 8
  %52 = load i8, ptr %46, align 1
  %53 = icmp eq i8 %52, 45
  %54 = icmp ult ptr %51, %1
  %55 = select i1 %53, i1 %54, i1 false
  br i1 %55, label %56, label %162
56:                                               ; preds = %50
  %57 = load i8, ptr %51, align 1
  %58 = zext i8 %57 to i32
  %59 = add nsw i32 %58, -48
  %60 = and i32 %59, 254
  %61 = icmp samesign ult i32 %60, 10
  br i1 %61, label %62, label %162
62:                                               ; preds = %56
  %63 = getelementptr inbounds nuw i8, ptr %4, i64 6
  store ptr %63, ptr %0, align 8
  %64 = icmp ult ptr %63, %1
  br i1 %64, label %65, label %162
65:                                               ; preds = %62
  %66 = load i8, ptr %63, align 1
  %67 = zext i8 %66 to i32
  %68 = add nsw i32 %67, -48
  %69 = and i32 %68, 254
  %70 = icmp samesign ult i32 %69, 10
  br i1 %70, label %71, label %162
71:                                               ; preds = %65
  %72 = mul nsw i32 %59, 10
  %73 = add nsw i32 %68, %72
  %74 = getelementptr inbounds nuw i8, ptr %4, i64 7
  store ptr %74, ptr %0, align 8
  %75 = icmp slt i32 %73, 0
  %76 = icmp eq ptr %74, %1
  %77 = select i1 %75, i1 true, i1 %76
  br i1 %77, label %162, label %78
78:                                               ; preds = %71
  %79 = getelementptr inbounds nuw i8, ptr %4, i64 8
  store ptr %79, ptr %0, align 8
  %80 = load i8, ptr %74, align 1
  %81 = icmp eq i8 %80, 45
  br i1 %81, label %82, label %162
82:                                               ; preds = %78
  %83 = icmp ult ptr %79, %1
  br i1 %83, label %84, label %103
84:                                               ; preds = %82
  %85 = load i8, ptr %79, align 1
  %86 = zext i8 %85 to i32
  %87 = add nsw i32 %86, -48
  %88 = and i32 %87, 254
  %89 = icmp samesign ult i32 %88, 10
  br i1 %89, label %90, label %103
90:                                               ; preds = %84
  %91 = getelementptr inbounds nuw i8, ptr %4, i64 9
  store ptr %91, ptr %0, align 8
  %92 = icmp ult ptr %91, %1
  br i1 %92, label %93, label %103
93:                                               ; preds = %90
  %94 = load i8, ptr %91, align 1
  %95 = zext i8 %94 to i32
  %96 = add nsw i32 %95, -48
  %97 = and i32 %96, 254
  %98 = icmp samesign ult i32 %97, 10
  br i1 %98, label %99, label %103
99:                                               ; preds = %93
  %100 = mul nsw i32 %87, 10
  %101 = add nsw i32 %96, %100
  %102 = getelementptr inbounds nuw i8, ptr %4, i64 10
  store ptr %102, ptr %0, align 8
  br label %103
103:                                              ; preds = %99, %93, %90, %82, %84
  %104 = phi i32 [ -1, %84 ], [ -1, %82 ], [ -1, %90 ], [ -1, %93 ], [ %101, %99 ]
  %105 = add nsw i32 %45, -9999
  %106 = icmp ult i32 %105, -9997
  %107 = add nsw i32 %73, -13
  %108 = icmp ult i32 %107, -12
  %109 = or i1 %106, %108
  %110 = icmp slt i32 %104, 1
  %111 = or i1 %109, %110
  br i1 %111, label %162, label %112
112:                                              ; preds = %103
  %113 = and i32 %45, 3
  %114 = icmp eq i32 %113, 0
  br i1 %114, label %115, label %122
115:                                              ; preds = %112
  %116 = trunc nuw i32 %45 to i16
  %117 = urem i16 %116, 100
  %118 = icmp eq i16 %117, 0
  br i1 %118, label %119, label %122
119:                                              ; preds = %115
  %120 = urem i16 %116, 400
  %121 = icmp eq i16 %120, 0
  br label %122
122:                                              ; preds = %119, %115, %112
  %123 = phi i1 [ false, %112 ], [ true, %115 ], [ %121, %119 ]
  %124 = zext nneg i32 %73 to i64
  %125 = getelementptr inbounds nuw [13 x i16], ptr @days_of.before, i64 0, i64 %124
  %126 = load i16, ptr %125, align 2
  %127 = sext i16 %126 to i32
  %128 = add nsw i32 %73, -1
  %129 = zext nneg i32 %128 to i64
  %130 = getelementptr inbounds nuw [13 x i16], ptr @days_of.before, i64 0, i64 %129
  %131 = load i16, ptr %130, align 2
  %132 = sext i16 %131 to i32
  %133 = icmp eq i32 %73, 2
  %134 = and i1 %133, %123
  %135 = zext i1 %134 to i32
  %136 = add nsw i32 %135, %127
  %137 = sub nsw i32 %136, %132
  %138 = icmp sgt i32 %104, %137
  br i1 %138, label %162, label %139
139:                                              ; preds = %122
  %140 = add nsw i32 %45, -1
  %141 = zext nneg i32 %140 to i64
  %142 = mul nuw nsw i64 %141, 365
  %143 = lshr i32 %140, 2
  %144 = zext nneg i32 %143 to i64
  %145 = trunc i32 %140 to i16
  %146 = udiv i16 %145, 100
  %147 = zext nneg i16 %146 to i64
  %148 = udiv i16 %145, 400
  %149 = zext nneg i16 %148 to i64
  %150 = sext i16 %131 to i64
  %151 = icmp samesign ugt i32 %73, 2
  %152 = and i1 %151, %123
  %153 = zext i1 %152 to i64
  %154 = zext nneg i32 %104 to i64
  %155 = add nuw nsw i64 %144, -719163
  %156 = add nsw i64 %155, %142
  %157 = sub nsw i64 %156, %147
  %158 = add nsw i64 %157, %149
  %159 = add nsw i64 %158, %154
  %160 = add nsw i64 %159, %153
  %161 = add nsw i64 %160, %150
  store i64 %161, ptr %2, align 8
  br label %162
162:                                              ; preds = %3, %6, %12, %15, %21, %26, %32, %37, %56, %62, %65, %139, %122, %103, %78, %71, %43, %50
  %163 = phi i32 [ 0, %50 ], [ 0, %43 ], [ 0, %78 ], [ 0, %71 ], [ 0, %103 ], [ 1, %139 ], [ 0, %122 ], [ 0, %65 ], [ 0, %62 ], [ 0, %56 ], [ 0, %37 ], [ 0, %32 ], [ 0, %26 ], [ 0, %21 ], [ 0, %15 ], [ 0, %12 ], [ 0, %6 ], [ 0, %3 ]
  ret i32 %163
}
define internal fastcc i32 @digits_of(ptr nocapture noundef readonly %0, ptr nocapture noundef nonnull %1, ptr noundef %2, ptr nocapture noundef nonnull %3) unnamed_addr #4 {
  %5 = ptrtoint ptr %2 to i64
  %6 = load ptr, ptr %1, align 8
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 216
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %9 = trunc i64 %5 to i32
  br label %10
10:                                               ; preds = %87, %4
  %11 = phi ptr [ %6, %4 ], [ %88, %87 ]
  %12 = phi i32 [ 0, %4 ], [ %45, %87 ]
  %13 = phi i32 [ 0, %4 ], [ %80, %87 ]
  %14 = icmp ult ptr %11, %2
  br i1 %14, label %15, label %43
15:                                               ; preds = %10
  %16 = ptrtoint ptr %11 to i64
  %17 = trunc i64 %16 to i32
  %18 = sub i32 %9, %17
  %19 = getelementptr i8, ptr %11, i64 %5
  %20 = sub i64 0, %16
  %21 = getelementptr i8, ptr %19, i64 %20
  br label %22
22:                                               ; preds = %15, %38
  %23 = phi i32 [ %41, %38 ], [ 0, %15 ]
  %24 = phi i32 [ %39, %38 ], [ %12, %15 ]
  %25 = phi ptr [ %40, %38 ], [ %11, %15 ]
  %26 = load i8, ptr %25, align 1
  %27 = add i8 %26, -48
  %28 = icmp ult i8 %27, 10
  br i1 %28, label %29, label %43
29:                                               ; preds = %22
  %30 = load i64, ptr %3, align 8
  %31 = mul i64 %30, 10
  %32 = zext nneg i8 %27 to i64
  %33 = add i64 %31, %32
  store i64 %33, ptr %3, align 8
  %34 = icmp eq i64 %33, 0
  br i1 %34, label %38, label %35
35:                                               ; preds = %29
  %36 = add nsw i32 %24, 1
  %37 = icmp sgt i32 %24, 18
  br i1 %37, label %94, label %38
38:                                               ; preds = %29, %35
  %39 = phi i32 [ %36, %35 ], [ %24, %29 ]
  %40 = getelementptr inbounds nuw i8, ptr %25, i64 1
  %41 = add nuw nsw i32 %23, 1
  %42 = icmp eq ptr %40, %21
  br i1 %42, label %43, label %22
43:                                               ; preds = %22, %38, %10
  %44 = phi ptr [ %11, %10 ], [ %21, %38 ], [ %25, %22 ]
  %45 = phi i32 [ %12, %10 ], [ %39, %38 ], [ %24, %22 ]
  %46 = phi i32 [ 0, %10 ], [ %18, %38 ], [ %23, %22 ]
  %47 = phi i1 [ true, %10 ], [ %28, %38 ], [ %28, %22 ]
  %48 = load i64, ptr %7, align 8
  %49 = icmp eq i64 %48, 1
  br i1 %49, label %50, label %58
50:                                               ; preds = %43
  %51 = load ptr, ptr %8, align 8
  %52 = load i8, ptr %51, align 1
  %53 = icmp ne i8 %52, 32
  %54 = or i1 %47, %53
  br i1 %54, label %60, label %55
55:                                               ; preds = %50
  %56 = tail call fastcc i32 @space(ptr noundef %44, ptr noundef nonnull %2) #9
  %57 = zext nneg i32 %56 to i64
  br label %75
58:                                               ; preds = %43
  %59 = icmp sgt i64 %48, 0
  br i1 %59, label %60, label %75
60:                                               ; preds = %50, %58
  %61 = phi i64 [ %48, %58 ], [ 1, %50 ]
  br label %65
62:                                               ; preds = %69
  %63 = add nuw i64 %66, 1
  %64 = icmp eq i64 %63, %61
  br i1 %64, label %78, label %65
65:                                               ; preds = %60, %62
  %66 = phi i64 [ %63, %62 ], [ 0, %60 ]
  %67 = getelementptr inbounds nuw i8, ptr %44, i64 %66
  %68 = icmp ult ptr %67, %2
  br i1 %68, label %69, label %89
69:                                               ; preds = %65
  %70 = load i8, ptr %67, align 1
  %71 = load ptr, ptr %8, align 8
  %72 = getelementptr inbounds nuw i8, ptr %71, i64 %66
  %73 = load i8, ptr %72, align 1
  %74 = icmp eq i8 %70, %73
  br i1 %74, label %62, label %89
75:                                               ; preds = %55, %58
  %76 = phi i64 [ %48, %58 ], [ %57, %55 ]
  %77 = icmp eq i64 %76, 0
  br i1 %77, label %89, label %78
78:                                               ; preds = %62, %75
  %79 = phi i64 [ %76, %75 ], [ %61, %62 ]
  %80 = add nuw nsw i32 %13, 1
  %81 = icmp eq i32 %13, 0
  br i1 %81, label %84, label %82
82:                                               ; preds = %78
  %83 = icmp eq i32 %46, 3
  br i1 %83, label %87, label %94
84:                                               ; preds = %78
  %85 = add nsw i32 %46, -4
  %86 = icmp ult i32 %85, -3
  br i1 %86, label %94, label %87
87:                                               ; preds = %82, %84
  %88 = getelementptr inbounds i8, ptr %44, i64 %79
  br label %10
89:                                               ; preds = %75, %69, %65
  %90 = icmp ne i32 %13, 0
  %91 = icmp ne i32 %46, 3
  %92 = select i1 %90, i1 %91, i1 false
  br i1 %92, label %94, label %93
93:                                               ; preds = %89
  store ptr %44, ptr %1, align 8
  br label %94
94:                                               ; preds = %82, %84, %35, %89, %93
  %95 = phi i32 [ %45, %93 ], [ -1, %89 ], [ -1, %35 ], [ -1, %84 ], [ -1, %82 ]
  ret i32 %95
}
define internal fastcc range(i32 0, 2) i32 @scaled(ptr nocapture noundef readonly %0, i64 noundef range(i64 1, 0) %1, i32 noundef %2, ptr nocapture noundef nonnull writeonly %3) unnamed_addr #5 {
  %5 = add i32 %2, -309
  %6 = icmp ult i32 %5, -651
  br i1 %6, label %80, label %7
7:                                                ; preds = %4
  %8 = tail call range(i64 0, 65) i64 @llvm.ctlz.i64(i64 %1, i1 true)
  %9 = trunc nuw nsw i64 %8 to i32
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 232
  %11 = load ptr, ptr %10, align 8
  %12 = shl nsw i32 %2, 1
  %13 = sext i32 %12 to i64
  %14 = getelementptr i64, ptr %11, i64 %13
  %15 = shl i64 %1, %8
  %16 = zext i64 %15 to i128
  %17 = getelementptr i8, ptr %14, i64 5480
  %18 = load i64, ptr %17, align 8
  %19 = zext i64 %18 to i128
  %20 = mul nuw i128 %19, %16
  %21 = lshr i128 %20, 64
  %22 = trunc nuw i128 %21 to i64
  %23 = trunc i128 %20 to i64
  %24 = and i64 %22, 511
  %25 = icmp eq i64 %24, 511
  br i1 %25, label %26, label %41
26:                                               ; preds = %7
  %27 = getelementptr i8, ptr %14, i64 5472
  %28 = load i64, ptr %27, align 8
  %29 = zext i64 %28 to i128
  %30 = mul nuw i128 %29, %16
  %31 = lshr i128 %30, 64
  %32 = trunc nuw i128 %31 to i64
  %33 = add i64 %32, %23
  %34 = icmp ult i64 %33, %32
  %35 = zext i1 %34 to i64
  %36 = add nuw i64 %35, %22
  %37 = icmp eq i64 %33, -1
  %38 = add nsw i32 %2, -56
  %39 = icmp ult i32 %38, -83
  %40 = and i1 %39, %37
  br i1 %40, label %80, label %41
41:                                               ; preds = %26, %7
  %42 = phi i64 [ %22, %7 ], [ %36, %26 ]
  %43 = phi i64 [ %23, %7 ], [ %33, %26 ]
  %44 = lshr i64 %42, 63
  %45 = trunc nuw nsw i64 %44 to i32
  %46 = mul nsw i32 %2, 217706
  %47 = ashr i32 %46, 16
  %48 = xor i32 %9, 63
  %49 = add nsw i32 %48, %47
  %50 = add nsw i32 %49, %45
  %51 = icmp slt i32 %50, -1022
  br i1 %51, label %80, label %52
52:                                               ; preds = %41
  %53 = add nuw nsw i64 %44, 9
  %54 = lshr i64 %42, %53
  %55 = icmp ult i64 %43, 2
  %56 = add nsw i32 %2, 4
  %57 = icmp ult i32 %56, 28
  %58 = and i1 %57, %55
  %59 = and i64 %54, 3
  %60 = icmp eq i64 %59, 1
  %61 = and i1 %58, %60
  %62 = shl i64 %54, %53
  %63 = icmp eq i64 %62, %42
  %64 = select i1 %61, i1 %63, i1 false
  %65 = and i64 %54, 72057594037927932
  %66 = select i1 %64, i64 %65, i64 %54
  %67 = and i64 %66, 1
  %68 = add nuw nsw i64 %67, %66
  %69 = icmp samesign ugt i64 %68, 18014398509481983
  %70 = select i1 %69, i32 1024, i32 1023
  %71 = add nsw i32 %70, %50
  %72 = icmp samesign ugt i32 %71, 2046
  br i1 %72, label %80, label %73
73:                                               ; preds = %52
  %74 = lshr i64 %68, 1
  %75 = and i64 %74, 9218868437227405311
  %76 = select i1 %69, i64 0, i64 %75
  %77 = zext nneg i32 %71 to i64
  %78 = shl nuw nsw i64 %77, 52
  %79 = or i64 %78, %76
  store i64 %79, ptr %3, align 8
  br label %80
80:                                               ; preds = %26, %52, %41, %73, %4
  %81 = phi i32 [ 0, %4 ], [ 0, %26 ], [ 1, %73 ], [ 0, %41 ], [ 0, %52 ]
  ret i32 %81
}
declare i64 @llvm.ctlz.i64(i64, i1 immarg) #6
declare double @llvm.fabs.f64(double) #7
attributes #0 = { nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none) }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #3 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: read) }
attributes #4 = { nofree norecurse nosync nounwind memory(read, argmem: readwrite, inaccessiblemem: none) }
attributes #5 = { mustprogress nofree norecurse nosync nounwind willreturn memory(read, argmem: readwrite, inaccessiblemem: none) }
attributes #6 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #7 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #8 = { nounwind }
attributes #9 = { nobuiltin }
